import { AgentState, createAgentLoop, tool, userMessage } from '@holdfast/core';
import type { Driver } from '@holdfast/core';

const ARGUMENTS = 'a'.repeat(170);
const RESULT = 'r'.repeat(980);

/** A state after a run of tool steps: about 200 bytes of arguments and 1 KB of result each. */
export async function stateAfter(steps: number): Promise<AgentState> {
  let turn = 0;
  const driver: Driver = {
    async infer() {
      turn++;
      const usage = { inputTokens: 10, outputTokens: 5 };
      if (turn > steps) return { text: 'done', usage };
      const input = { n: turn, text: ARGUMENTS };
      return { content: [{ type: 'tool-call', toolCallId: `call_${turn}`, toolName: 'echo', input }], usage };
    },
  };
  const echo = tool({
    name: 'echo',
    description: 'Says it back.',
    inputSchema: { type: 'object' },
    execute: ({ n }) => ({ n, ok: true, data: RESULT }),
  });
  const loop = createAgentLoop({ driver, tools: [echo], budget: { maxSteps: Infinity } });
  return loop.run(
    AgentState.empty().withSystemPrompt('You are a test agent.').withUserMessage('Please echo.'),
  );
}

/** A state whose conversation is so many messages of 1 KB. */
export function stateOf(messages: number): AgentState {
  const text = 'm'.repeat(1_000);
  return AgentState.empty().withMessages(Array.from({ length: messages }, () => userMessage(text)));
}
