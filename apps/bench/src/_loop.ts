import { AgentState, createAgentLoop, tool } from '@holdfast/core';
const RESULT = 'r'.repeat(980),
  ARG = 'a'.repeat(170);
const usage = { inputTokens: 10, outputTokens: 5 };
const echo = tool({
  name: 'echo',
  description: 'Says it back.',
  inputSchema: {
    type: 'object',
    properties: { n: { type: 'number' }, text: { type: 'string' } },
    required: ['n', 'text'],
  },
  execute: ({ n }: any) => ({ n, ok: true, data: RESULT }),
});
async function run(steps: number, par = 1) {
  let turn = 0;
  const driver = {
    async infer() {
      turn++;
      if (turn > steps) return { text: 'done', usage };
      return {
        content: Array.from({ length: par }, (_, i) => ({
          type: 'tool-call' as const,
          toolCallId: `call_${turn}_${i}`,
          toolName: 'echo',
          input: { n: turn, text: ARG },
        })),
        usage,
      };
    },
  };
  const loop = createAgentLoop({ driver, tools: [echo], budget: { maxSteps: Infinity } });
  const t = performance.now();
  await loop.run(AgentState.empty().withSystemPrompt('x').withUserMessage('hi'));
  return performance.now() - t;
}
const med = async (n: number, steps: number, par = 1) => {
  const t = [];
  for (let i = 0; i < n; i++) t.push(await run(steps, par));
  t.sort((a, b) => a - b);
  return [t[0]!, t[n >> 1]!].map((x) => ((x / steps) * 1000).toFixed(2)).join(' / ');
};
if (process.argv[2] === '8') {
  await med(200, 50, 8);
} else if (process.argv[2]) {
  await med(Number(process.argv[3] ?? 200), 200);
} else {
  await med(50, 50);
  for (const [s, n] of [
    [1, 2000],
    [50, 200],
    [200, 60],
    [1000, 12],
  ] as const)
    console.log(s, 'us/step min/med', await med(n, s));
  console.log('8 parallel, 50 steps', await med(60, 50, 8));
}
