import { createAgentLoop, textOf, tool, type AgentLoop, type JsonObject, type Tool } from '@holdfast/core';
import type { Driver, InferenceRequest, InferenceResponseInit } from '@holdfast/core/driver';
import type { Journal } from '../journal.ts';
import type { Gates } from './gates.ts';

/** The parts of the agent of a process. */
export interface WriterParts {
  readonly gates: Gates;
  readonly journal: Journal;
  /** The name of the worker, which the model writes for `{worker}`. */
  readonly name: string;
}

/** A call of a tool in a plan, such as `call pay {"euros": 5}`. */
const CALL = /^call (?<toolName>\w+) (?<input>.*)$/;
/** A long text in a plan, such as `write 1000000`: the number of its characters. */
const LONG = /^write (?<length>\d+)$/;
const LONG_PIECE = 'All work and no play makes a dull text. '.repeat(250);

/**
 * An agent that does what the last message of the user says, in any process. Each line of the message is a call of the
 * model: a text, or a call of a tool. At `[a]` the model waits for the gate `a`.
 */
export function writer({ gates, journal, name }: WriterParts): AgentLoop {
  const driver: Driver = {
    async infer(request, { signal, onDelta }) {
      const { line, toolCallId } = nextLine(request);
      const call = CALL.exec(line)?.groups as { toolName: string; input: string } | undefined;
      let text = '';
      for await (const piece of piecesOf(call?.input ?? line.replaceAll('{worker}', name), gates, signal)) {
        text += piece;
        if (call) onDelta?.({ type: 'tool-input', id: toolCallId, toolName: call.toolName, text: piece });
        else onDelta?.({ type: 'text', id: 'text', text: piece });
      }
      if (signal.aborted) return { content: [{ type: 'text', text }], finishReason: 'aborted' };
      return call ? callResponse(call.toolName, toolCallId, text) : { content: [{ type: 'text', text }] };
    },
  };
  const workTool = (toolName: string, needsApproval: boolean): Tool<JsonObject> =>
    tool({
      name: toolName,
      description: 'Works until its gate is open.',
      inputSchema: { type: 'object' },
      effect: 'once',
      needsApproval,
      async execute({ gate }, { toolCallId: call, idempotencyKey: key, signal }) {
        journal.write({ type: 'called', sessionId: '', epoch: 0, call, tool: toolName, key });
        if (typeof gate === 'string') await gates.pass(gate, signal);
        return `${toolName} is done`;
      },
    });
  return createAgentLoop({ driver, tools: [workTool('work', false), workTool('pay', true)] });
}

/** Returns the line for this call of the model, and an id for the call of a tool. */
function nextLine({ messages }: InferenceRequest): { readonly line: string; readonly toolCallId: string } {
  const all = messages.toArray();
  const asked = all.findLastIndex(({ role }) => role === 'user');
  const lines = asked === -1 ? [] : textOf(all[asked] as never).split('\n');
  const step = all.slice(asked).filter(({ role }) => role === 'assistant').length;
  return { line: lines[step] ?? 'Done.', toolCallId: `call-${all.length}` };
}

async function* piecesOf(line: string, gates: Gates, signal: AbortSignal): AsyncGenerator<string> {
  const length = Number(LONG.exec(line)?.groups?.['length'] ?? 0);
  for (let written = 0; written < length && !signal.aborted; written += LONG_PIECE.length) {
    yield LONG_PIECE;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (length > 0) return;
  for (const [index, piece] of line.split(/\[(\w+)\]/).entries()) {
    if (signal.aborted) return;
    if (index % 2 === 0) yield piece;
    else await gates.pass(piece, signal);
  }
}

function callResponse(toolName: string, toolCallId: string, text: string): InferenceResponseInit {
  const input = JSON.parse(text) as JsonObject;
  return { content: [{ type: 'tool-call', toolCallId, toolName, input }] };
}
