import {
  AgentBuilder,
  AgentSession,
  AgentState,
  AgentStop,
  costOf,
  createAgentLoop,
  eventListener,
  InProcessEngine,
  isExecutionOf,
  MemorySessionStore,
  pendingApprovals,
  redactedListener,
  sendMessage,
  SessionRuntime,
  subagent,
  textOf,
  tool,
  Usage,
} from '@holdfast/core';
import { InferenceResponse, List, reasoningOf, toolCallsOf } from '@holdfast/core/driver';
import { AgentId, applyOutcome, nextAction, stopSignal, summaryCompiler } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

/** A value as callers without types may pass it. */
const given = (value: unknown): never => value as never;

const driver = scriptedDriver('Hello.');
const loop = createAgentLoop({ driver });
const state = AgentState.empty();
const session = AgentSession.create({ definition: { name: 'helper' } });
const store = new MemorySessionStore();
const init = {
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object' },
  execute: () => 1,
} as const;
const add = tool(init);
const price = { input: 1, output: 2 };
const at = 0;
const nothing = (): undefined => undefined;
const { execute: _, ...asked } = init;
const withoutExecute = (changes: object) => () => tool(given({ ...asked, ...changes }));
const withTool = (changes: object) => () => createAgentLoop({ driver, tools: [{ ...add, ...changes }] });
const withChoice = (toolChoice: unknown) => () =>
  createAgentLoop({ driver, tools: [add], toolChoice: given(toolChoice) });
const runtime = (agents: unknown) => () => new SessionRuntime({ store, agents: given(agents) });

type Row = readonly [what: string, call: () => unknown, says: string];

const rows: readonly Row[] = [
  ['pendingApprovals of a session', () => pendingApprovals(given(session)), 'pass session.state'],
  ['pendingApprovals of nothing', () => pendingApprovals(given(undefined)), 'found nothing'],
  ['nextAction', () => nextAction(given({})), 'nextAction takes an AgentState, found an object'],
  ['nextAction of JSON', () => nextAction(given(state.toJSON())), 'AgentState.fromJSON(json)'],
  ['requestOf', () => state.requestOf(given({})), 'state.lastStep'],
  ['applyOutcome, the state', () => applyOutcome(given({}), { type: 'finished', at }), 'takes an AgentState'],
  ['applyOutcome, the type', () => applyOutcome(state, given({ type: 'zz' })), 'found string "zz"'],
  ['applyOutcome of nothing', () => applyOutcome(state, given(null)), 'found null'],
  ['toJSON', () => state.toJSON(given({ execution: 'omitt' })), 'must be one of omit'],
  ['toJSON, a name', () => state.toJSON(given({ exec: 'omit' })), 'no option "exec"'],
  ['eventListener, the type', () => eventListener(given('step-complete'), nothing), 'mean "step-completed"?'],
  ['eventListener, types', () => eventListener(given(['subagent', 'x']), nothing), 'Unknown event type "x"'],
  ['eventListener, no type', () => eventListener(given(7), nothing), 'types of eventListener'],
  ['eventListener, the listener', () => eventListener('subagent', given(1)), 'listener of eventListener'],
  ['redactedListener', () => redactedListener(given(1)), 'listener of redactedListener'],
  ['AgentStop', () => new AgentStop(given({ reason: 'stopRequested', mesage: 'x' })), 'no member "mesage"'],
  ['stopSignal', () => stopSignal(given({ reason: 'unknown', data: {} })), 'no member "data"'],
  ['withStopSignal', () => state.withStopSignal(given({ reason: 'unknown', data: {} })), 'no member "data"'],
  ['costOf, the usage', () => costOf(given({ inputTokens: 1 }), price), 'usage, as returned by Usage.of()'],
  ['costOf, the price', () => costOf(Usage.none, given(5)), 'price takes an object'],
  [
    'costOf, a member',
    () => costOf(Usage.none, given({ ...price, cached: 1 })),
    'price has no option "cached"',
  ],
  ['a tool, a member', withTool({ needsAproval: nothing }), 'did you mean "needsApproval"?'],
  ['a tool, the effect', withTool({ effect: 'idempotnt' }), 'effect of tool "add" must be one of readOnly'],
  [
    'a tool, needsApproval',
    withTool({ needsApproval: true }),
    'needsApproval of tool "add" must be a function',
  ],
  [
    'a tool, timeoutSeconds',
    withTool({ timeoutSeconds: '5' }),
    'timeoutSeconds of tool "add" must be a number',
  ],
  ['a tool, retry', withTool({ retry: { maxAttempts: 1 } }), 'maxAttempts of the retry of tool "add"'],
  [
    'a tool of a builder',
    () => AgentBuilder.of().withTools(given({ ...add, effect: 1 })),
    'effect of tool "add"',
  ],
  ['a question, effect', withoutExecute({ effect: 'once' }), 'tool "add" has no execute, so its calls wait'],
  ['a question, timeoutSeconds', withoutExecute({ timeoutSeconds: 5 }), 'set answerTimeoutSeconds instead'],
  ['a question, retry', withoutExecute({ retry: { maxAttempts: 2 } }), 'remove retry'],
  ['a question, reconcile', withoutExecute({ reconcile: nothing }), 'remove reconcile'],
  ['a tool, execute is undefined', withoutExecute({ execute: undefined }), 'pass a function, or omit it'],
  ['a tool, outputSchema', () => tool(given({ ...init, outputSchema: {} })), 'without execute'],
  ['a tool, answerTimeoutSeconds', () => tool(given({ ...init, answerTimeoutSeconds: 5 })), 'omit execute'],
  [
    'a subagent without toTask',
    () => subagent(given({ name: 'ask', description: 'Asks.', loop, inputSchema: { type: 'object' } })),
    'has an inputSchema and no toTask',
  ],
  ['summaryCompiler', () => summaryCompiler(given(7)), 'must be a function'],
  ['manualClock', () => manualClock(given('zz')), 'start of manualClock'],
  ['steppedClock', () => steppedClock(0, given('1')), 'stepMilliseconds of steppedClock'],
  ['engine.wake', () => new InProcessEngine().wake(given(7)), 'A session id must be a string'],
  ['engine.wake of a session', () => new InProcessEngine().wake(given(session)), 'pass session.sessionId'],
  ['withHooks', () => AgentBuilder.of().withHooks(given([{ afterStep: nothing }])), 'found an array of 1'],
  ['scriptedDriver', () => scriptedDriver('Hi.', given(null)), 'Answer 2 of a script'],
  ['withState of a session', () => session.withState(given(session)), 'pass session.state'],
  ['withState of JSON', () => session.withState(given(state.toJSON())), 'AgentState.fromJSON(json)'],
  ['agents, an object', runtime({ a: {} }), 'Agent "a" must be what createAgentLoop() returns'],
  ['agents, null', runtime({ a: null }), 'found null'],
  ['agents, a loop', runtime(loop), 'write agents: { assistant: loop }'],
  ['List.map', () => List.from([1]).map(given(undefined)), 'a function of an element'],
  ['List.filter', () => List.empty().filter(given(undefined)), 'a function of an element'],
  ['List.find', () => List.from([1]).find(given('a')), 'a function of an element'],
  ['List.since', () => List.from([1]).since(given([1])), 'a List, as state.messages is one'],
  [
    'isExecutionOf, the tool',
    () => isExecutionOf(given({ name: 'add' }), given(undefined)),
    'tool of isExecutionOf',
  ],
  ['isExecutionOf, the execution', () => isExecutionOf(given(undefined), add), 'execution of isExecutionOf'],
  ['textOf', () => textOf(given(undefined)), 'a message, or an array of its parts, found nothing'],
  ['toolCallsOf', () => toolCallsOf(given('text')), 'a message, or an array of its parts'],
  ['reasoningOf', () => reasoningOf(given({})), 'a message, or an array of its parts'],
  ['toolChoice, an unknown tool', withChoice({ toolName: 'nope' }), 'unknown tool "nope". Known tools: add.'],
  ['toolChoice of the AI SDK', withChoice({ type: 'tool', toolName: 'a' }), 'write { toolName: "a" }'],
  [
    'toolChoice with a member',
    withChoice({ toolName: 'add', strict: true }),
    'toolChoice of createAgentLoop',
  ],
  ['a run context under another name', () => loop.run(state, given({ context: 1 })), 'use "runContext"'],
  [
    'a run context of a loop',
    () => createAgentLoop(given({ driver, runContext: 1 })),
    'pass it to each run, as in loop.run(state, { runContext })',
  ],
  [
    'a tool with a run context',
    () => tool(given({ ...init, runContext: 1 })),
    'create the tool with toolFor',
  ],
  [
    'a runtime with a context',
    () => new SessionRuntime(given({ store, agents: {}, context: nothing })),
    'use "runContext", a function from the session',
  ],
  [
    'execute with a context',
    async () => {
      const helper = new SessionRuntime({ store, agents: {} });
      return helper.execute('a', sendMessage('Hi.'), given({ context: 1 }));
    },
    'use "runContext"',
  ],
  [
    'a subagent with a run context that is no function',
    () => subagent(given({ name: 'ask', description: 'Asks.', loop, runContext: { user: 'ada' } })),
    'runContext of subagent "ask" must be a function',
  ],
  ...['activeTools', 'prepareStep', 'stopWhen', 'maxSteps', 'onStepFinish', 'experimental_telemetry'].map(
    (name): Row => [
      `the loop option ${name}`,
      () => createAgentLoop(given({ driver, [name]: 1 })),
      `createAgentLoop has no option "${name}": `,
    ],
  ),
];

test.each(rows)('%s is refused', async (_, call, says) => {
  const error: unknown = await (async () => call())().then(
    () => expect.unreachable('accepted'),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(says) });
});

test('toJSON takes what JSON.stringify passes', () => {
  expect(JSON.parse(JSON.stringify({ state, all: [state] }))).toEqual({
    state: state.toJSON(),
    all: [state.toJSON()],
  });
});

test('a catalog function that returns no loop is refused', async () => {
  const found = new SessionRuntime({ store, agents: () => given({}) });
  const { sessionId } = await found.create({ definition: { name: 'helper' } });
  await expect(found.advance(sessionId)).resolves.toBeDefined();
  const sent = found.execute(sessionId, sendMessage('Hi.'));
  await expect(sent).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
});

describe('an answer of a driver with an unknown member', () => {
  test('is refused by name', () => {
    const answer = { text: 'Hi.', usge: { inputTokens: 1 } };
    expect(() => InferenceResponse.of(answer)).toThrow(
      expect.objectContaining({ code: 'INFERENCE_INVALID', message: expect.stringContaining('"usge"') }),
    );
  });

  test('ends the execution', async () => {
    const wrong = { infer: async () => ({ text: 'Hi.', usge: 1 }) };
    const after = await createAgentLoop({ driver: wrong }).run(state.withUserMessage('Hi.'));
    expect(after.errors).toMatchObject([{ code: 'INFERENCE_INVALID' }]);
  });
});

test.each([
  ['a Date', () => new Date(0)],
  ['a fraction', () => 0.5],
])('a run whose clock returns %s is refused', async (_, now) => {
  const clock = { ...steppedClock(), now: given(now) };
  const run = createAgentLoop({ driver, clock }).run(state.withUserMessage('Hi.'));
  await expect(run).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
});

test('errors about ids use the right article', () => {
  expect(() => AgentId.parse('x')).toThrow('An AgentId must be a UUID');
});
