import assert from 'node:assert/strict';
import {
  AgentState,
  createAgentLoop,
  MemorySessionStore,
  tool,
  deny,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  structuredOutput,
  type AgentLoopOptions,
} from '@holdfast/core';
import { heard, unheard, type UngroupedDriverCase } from './driver-case.ts';
import { ADD, answer, NUMBERS, USAGE } from './driver-calls.ts';
import { callWith, saidIn, type ProviderReply } from './provider.ts';

const SUM = callWith('call_1', 'add', { a: 1, b: 2 });
const QUESTION = AgentState.empty().withUserMessage('one sum');
const QUICK_RETRIES = { initialDelaySeconds: 0.01, maxDelaySeconds: 0.01, maxElapsedSeconds: 10 };

/** A tool that counts its runs. */
function counted(): { readonly adding: ReturnType<typeof tool>; readonly runs: () => number } {
  let runs = 0;
  const adding = tool({
    ...structuredClone(ADD),
    execute: () => {
      runs += 1;
      return 3;
    },
  });
  return { adding, runs: () => runs };
}

/** Runs a loop with a listener, so that the driver streams. */
function streamed(options: AgentLoopOptions): Promise<AgentState> {
  return createAgentLoop(options).run(QUESTION, { onEvent: () => undefined });
}

const tools: readonly UngroupedDriverCase[] = [
  unheard('an agent calls a tool and responds with its result', [], async ({ create }) => {
    const { driver, requests } = await create([answer({ calls: [SUM] }), answer({ text: 'It is 3.' })]);
    const loop = createAgentLoop({ driver, tools: [counted().adding] });
    const end = await loop.run(QUESTION);
    assert.deepEqual([end.status, end.finalResponse, end.stepCount], ['completed', 'It is 3.', 2]);
    assert.equal(end.usage.inputTokens, 2 * USAGE.inputTokens);
    assert.deepEqual(saidIn(requests()[1]), ['user one sum', 'call call_1 add', 'result call_1 3']);
  }),
  unheard('an agent reads the error of its tool', [], async ({ create }) => {
    const { driver, requests } = await create([answer({ calls: [SUM] }), answer({ text: 'Sorry.' })]);
    const failing = tool({
      ...structuredClone(ADD),
      execute: () => {
        throw new Error('The disk is full.');
      },
    });
    const end = await createAgentLoop({ driver, tools: [failing] }).run(QUESTION);
    assert.deepEqual([end.status, end.finalResponse], ['completed', 'Sorry.']);
    assert.match(saidIn(requests()[1]).at(-1) ?? '', /^result call_1 .*The disk is full\./s);
  }),
  unheard('a tool does not run with invalid arguments', ['invalidArguments'], async ({ create }) => {
    const broken = { ...SUM, arguments: '{"a": 1, ' };
    const { driver, requests } = await create([answer({ calls: [broken] }), answer({ text: 'Sorry.' })]);
    const anything = { ...ADD, inputSchema: { type: 'object' } };
    let runs = 0;
    const adding = tool({ ...anything, execute: () => (runs += 1) });
    const end = await createAgentLoop({ driver, tools: [adding] }).run(QUESTION);
    assert.deepEqual([end.status, end.finalResponse, runs], ['completed', 'Sorry.', 0]);
    assert.match(saidIn(requests()[1]).at(-1) ?? '', /^result call_1 .*(JSON|invalid|valid)/is);
  }),
  unheard('an agent reads why its call was denied', [], async ({ create }) => {
    const { driver, requests } = await create([answer({ calls: [SUM] }), answer({ text: 'A pity.' })]);
    const adding = tool({ ...structuredClone(ADD), needsApproval: true, execute: () => 3 });
    const agents = { clerk: createAgentLoop({ driver, tools: [adding] }) };
    const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
    const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
    const { state } = await runtime.execute(sessionId, sendMessage('one sum'));
    const [pending] = pendingApprovals(state);
    assert(pending);
    const end = await runtime.execute(sessionId, deny(pending.id, { reason: 'Not on Sundays.' }));
    assert.equal(end.state.finalResponse, 'A pity.');
    assert.match(saidIn(requests()[1]).at(-1) ?? '', /^result call_1 .*Not on Sundays\./s);
  }),
  unheard('an agent returns structured output', ['schemas'], async ({ create }) => {
    const { driver, requests } = await create([answer({ text: '{"a":1,"b":2}' })]);
    const output = structuredOutput(structuredClone(NUMBERS), { name: 'numbers' });
    const end = await createAgentLoop({ driver, hooks: [output] }).run(QUESTION);
    assert.deepEqual([end.status, output.read(end)], ['completed', { a: 1, b: 2 }]);
    assert.deepEqual(requests()[0]?.responseFormat?.schema, NUMBERS);
  }),
];

const interrupted = (
  content: Pick<ProviderReply & { type: 'interruption' }, 'text' | 'calls'>,
): ProviderReply => ({
  type: 'interruption',
  interruption: 'cut',
  ...content,
});

const failures: readonly UngroupedDriverCase[] = [
  heard(
    'an agent survives a provider that is unavailable for a moment',
    ['unavailable'],
    async ({ create }) => {
      const refusal = { type: 'refusal', refusal: 'unavailable' } as const;
      const { driver } = await create([refusal, answer({ text: 'It is 3.' })]);
      const end = await streamed({ driver, inferenceRetry: QUICK_RETRIES });
      assert.deepEqual([end.status, end.finalResponse, end.stepCount], ['completed', 'It is 3.', 1]);
    },
  ),
  heard(
    'an agent repeats a step whose response was interrupted',
    ['streaming', 'cut'],
    async ({ create }) => {
      const { driver, requests } = await create([interrupted({ text: 'It' }), answer({ text: 'It is 3.' })]);
      const end = await streamed({ driver, inferenceRetry: QUICK_RETRIES });
      assert.deepEqual([end.status, end.finalResponse, end.stepCount], ['completed', 'It is 3.', 1]);
      assert.equal(end.lastStep?.inferenceFailures.length, 1);
      assert.deepEqual(requests().map(saidIn), [['user one sum'], ['user one sum']]);
    },
  ),
  heard('calls of an interrupted response do not run', ['streaming', 'cut'], async ({ create }) => {
    const { driver } = await create([interrupted({ calls: [SUM] }), answer({ text: 'No sum.' })]);
    const { adding, runs } = counted();
    const end = await streamed({ driver, tools: [adding], inferenceRetry: QUICK_RETRIES });
    assert.deepEqual([end.status, end.finalResponse, runs()], ['completed', 'No sum.', 0]);
  }),
  unheard(
    'an agent with a refused key fails with DRIVER_AUTHENTICATION',
    ['authentication'],
    async ({ create }) => {
      const { driver } = await create([{ type: 'refusal', refusal: 'authentication' }]);
      const end = await createAgentLoop({ driver, inferenceRetry: { maxElapsedSeconds: 0 } }).run(QUESTION);
      assert.deepEqual(
        [end.status, end.errors.map(({ code }) => code)],
        ['failed', ['DRIVER_AUTHENTICATION']],
      );
    },
  ),
];

/** Requirements on a driver inside an agent. */
export const agentCases: readonly UngroupedDriverCase[] = [...tools, ...failures];
