import * as root from '@holdfast/core';
import * as forDrivers from '@holdfast/core/driver';
import * as forEngines from '@holdfast/core/engine';
import * as forStores from '@holdfast/core/store';
import {
  AgentBuilder,
  AgentSession,
  AgentState,
  answer,
  answerError,
  approve,
  assistantMessage,
  cancellation,
  consoleObserver,
  costLimit,
  createAgentLoop,
  deny,
  describe as describeSession,
  ExecutionBudget,
  finishReason,
  InProcessEngine,
  MemorySessionStore,
  eventListener,
  redactedListener,
  resume,
  RunAbort,
  editMessage,
  cancel,
  regenerate,
  sendMessage,
  SessionRuntime,
  structuredOutput,
  subagent,
  summaries,
  summarize,
  systemMessage,
  tool,
  toolFor,
  toolResult,
  systemClock,
  userMessage,
} from '@holdfast/core';
import { providerTool, toolMessage, ToolResult } from '@holdfast/core/driver';
import {
  ExecutionState,
  IsolatedProcess,
  PollingEngine,
  QueueEngine,
  sweep,
  guardsFor,
  type Advance,
} from '@holdfast/core/engine';
import { BackedSessionStore } from '@holdfast/core/store';
import { MemoryWakeUps } from '../src/session/engine/queue/memory-wake-ups.ts';
import { MemoryBackend } from '../src/session/store/memory-session-store.ts';
import { scriptedDriver, toolContext } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

/** Options as callers without types may pass them. */
type Given = never;
type Row = readonly [name: string, good: object, call: (options: Given) => unknown, kept?: readonly string[]];

const driver = scriptedDriver();
const loop = createAgentLoop({ driver });
const schema = { type: 'object' } as const;
const prices = { m: { input: 1, output: 2 } };
const definition = { name: 'helper' };
const state = AgentState.empty();
const question = { name: 'ask', description: 'Asks.', inputSchema: schema };
const init = { name: 'add', description: 'Adds.', inputSchema: schema, execute: () => 1 };
const store = new MemorySessionStore();
const runtime = new SessionRuntime({ store, agents: { helper: loop } });
const engine = (): InProcessEngine => new InProcessEngine();
const advance: Advance = (id, options) => runtime.advance(id, options);
const { sessionId } = await runtime.create({ definition });

const LEASE = { workerId: 'Ada', leaseSeconds: 1 };
const WORKER = { workerName: 'Ada', since: 1, sessionIds: [] };

/** All functions of core that take options; beside each, options whose values another function judges. */
const rows: readonly Row[] = [
  ['createAgentLoop', { driver }, (options) => createAgentLoop(options)],
  ['loop.run', {}, (options) => loop.run(state, options), ['runContext']],
  ['loop.iterate', {}, (options) => loop.iterate(state, options), ['runContext']],
  ['loop.stream', {}, (options) => loop.stream(state, options).result, ['runContext']],
  ['tool', init, (options) => tool(options)],
  ['tool, without execute', question, (options) => tool(options), ['outputSchema']],
  ['toolFor', init, (options) => toolFor()(options)],
  ['providerTool', { name: 'search', id: 'openai.web_search' }, (options) => providerTool(options)],
  ['tool, retry', { maxAttempts: 2 }, (retry) => tool({ ...init, retry })],
  ['toolResult', { value: 1 }, (options) => toolResult(options), ['value', 'modelOutput', 'metadata']],
  ['ToolResult', { value: 1 }, (options) => new ToolResult(options), ['value', 'modelOutput', 'metadata']],
  ['subagent', { name: 'ask', description: 'Asks.', loop }, (options) => subagent(options)],
  ['structuredOutput', {}, (options) => structuredOutput(schema, options)],
  ['costLimit', { prices }, (options) => costLimit(1, options)],
  ['costLimit, a price', { input: 1, output: 1 }, (m) => costLimit(1, { prices: { m } })],
  ['guardsFor', { maxTokens: 5 }, (options) => guardsFor(options)],
  ['guardsFor, prices', { prices }, (options) => guardsFor({}, options)],
  ['summarize', { driver, maxTokens: 5 }, (options) => summarize(options)],
  ['summaries', { driver, maxTokens: 5 }, (options) => AgentBuilder.of().use(summaries(options))],
  ['consoleObserver', {}, (options) => consoleObserver(options)],
  ['AgentBuilder.of', { driver }, (options) => AgentBuilder.of(options)],
  ['AgentBuilder.withSettings', { driver }, (options) => AgentBuilder.of().withSettings(options)],
  ['toolContext', {}, (options) => toolContext(options), ['progress', 'runContext']],
  ['ExecutionBudget.of', { maxSteps: 1 }, (options) => ExecutionBudget.of(options)],
  ['ExecutionBudget.remaining', {}, (options) => ExecutionBudget.unlimited().remaining(options)],
  ['AgentState.empty', {}, (options) => AgentState.empty(options)],
  ['AgentState.forked', {}, (options) => state.fork(options)],
  ['AgentState.withUserMessage', {}, (options) => state.withUserMessage('Hi.', options)],
  ['ExecutionState.create', {}, (options) => ExecutionState.create(options)],
  ['userMessage', {}, (options) => userMessage('Hi.', options)],
  ['assistantMessage', {}, (options) => assistantMessage('Hi.', options)],
  ['toolMessage', {}, (options) => toolMessage([], options)],
  ['systemMessage', {}, (options) => systemMessage('Hi.', options)],
  ['AgentSession.create', { definition }, (options) => AgentSession.create(options)],
  ['SessionRuntime', { store, agents: {} }, (options) => new SessionRuntime(options)],
  ['SessionRuntime.create', { definition }, (options) => runtime.create(options)],
  ['SessionRuntime.execute', {}, (options) => runtime.execute(sessionId, resume(), options), ['runContext']],
  ['SessionRuntime.enqueue', {}, (options) => runtime.enqueue(sessionId, { type: 'stop' }, options)],
  [
    'SessionRuntime.enqueue, a message',
    { type: 'message', content: 'Hi.' },
    (content) => runtime.enqueue(sessionId, content),
  ],
  ['SessionRuntime.enqueue, a stop', { type: 'stop' }, (content) => runtime.enqueue(sessionId, content)],
  [
    'SessionRuntime.enqueue, a decision',
    { type: 'decision', toolExecutionId: 'x', decision: 'denied' },
    (content) => runtime.enqueue(sessionId, content),
    ['input'],
  ],
  [
    'SessionRuntime.enqueue, an answer',
    { type: 'answer', toolExecutionId: 'x', error: 'No.' },
    (content) => runtime.enqueue(sessionId, content),
    ['value'],
  ],
  [
    'SessionRuntime.enqueue, an ended child',
    { type: 'child-ended', sessionId: 'x' },
    (content) => runtime.enqueue(sessionId, content),
  ],
  ['SessionRuntime.advance', {}, (options) => runtime.advance(sessionId, options)],
  ['cancel', {}, (options) => cancel(options)],
  ['regenerate', {}, (options) => regenerate(options)],
  ['editMessage', {}, (options) => editMessage('m1', 'Hi.', options)],
  ['SessionRuntime.fork', {}, (options) => runtime.fork(sessionId, options)],
  ['SessionRuntime.list', {}, (query) => runtime.list(query)],
  ['SessionRuntime.executions', {}, (query) => runtime.executions(sessionId, query)],
  ['SessionRuntime.revisions', {}, (query) => runtime.revisions(sessionId, query)],
  ['SessionRuntime.announce', {}, async (options) => (await runtime.announce(store, options))()],
  ['describe', {}, (description) => describeSession(description)],
  [
    'sendMessage',
    {},
    (options) => sendMessage('Hi.', options),
    ['createdAt', 'providerOptions', 'metadata', 'id'],
  ],
  ['approve', {}, (options) => approve('x', options), ['input']],
  ['deny', {}, (options) => deny('x', options)],
  ['answer', {}, (options) => answer('x', 1, options)],
  ['answerError', {}, (options) => answerError('x', 'No.', options)],
  ['MemorySessionStore', {}, (options) => new MemorySessionStore(options)],
  ['BackedSessionStore', {}, (options) => new BackedSessionStore(new MemoryBackend(), options)],
  [
    'BackedSessionStore.create',
    {},
    (options) => new MemorySessionStore().create(AgentSession.create({ definition }), options),
  ],
  ['BackedSessionStore.delete', {}, (options) => store.delete('none', options)],
  ['BackedSessionStore.list', {}, (options) => store.list(options)],
  ['BackedSessionStore.load', {}, (options) => store.load(sessionId, options)],
  ['BackedSessionStore.claim', LEASE, (options) => store.claim(sessionId, options)],
  ['BackedSessionStore.exists', {}, (options) => store.exists(sessionId, options)],
  ['BackedSessionStore.inspect', {}, (options) => store.inspect(sessionId, options)],
  ['BackedSessionStore.executions', {}, (options) => store.executions(sessionId, options)],
  ['BackedSessionStore.revisions', {}, (options) => store.revisions(sessionId, options)],
  ['BackedSessionStore.loadRevision', {}, (options) => store.loadRevision(sessionId, 1, options)],
  ['BackedSessionStore.enqueue', {}, (options) => store.enqueue(sessionId, { id: 'i', content: 1 }, options)],
  ['BackedSessionStore.removeItem', {}, (options) => store.removeItem(sessionId, 'i', options)],
  ['BackedSessionStore.announce', WORKER, (worker) => store.announce(worker, 30)],
  ['BackedSessionStore.due', {}, (options) => store.due(options)],
  ['BackedSessionStore.prune', {}, (options) => store.prune(options)],
  ['InProcessEngine', {}, (options) => new InProcessEngine(options)],
  ['QueueEngine', {}, (options) => new QueueEngine(new MemoryWakeUps(systemClock, {}), options)],
  ['PollingEngine', { store }, (options) => new PollingEngine(options)],
  ['IsolatedProcess', {}, (options) => new IsolatedProcess('isolated.js', options)],
  ['IsolatedProcess.stop', {}, (options) => new IsolatedProcess('isolated.js').stop(options)],
  ['InProcessEngine.wake', {}, (options) => engine().wake('a', options)],
  ['InProcessEngine.serve', {}, async (options) => (await engine().serve(advance, options)).stop()],
  ['InProcessEngine.stop', {}, async (options) => (await engine().serve(advance)).stop(options)],
];

const refusal = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringMatching(message) });
const coded = expect.objectContaining({
  code: expect.stringMatching(/^(?:(?:ARGUMENT|CONTEXT|ID)_INVALID|NOT_JSON|TOOL_SCHEMA_INVALID)$/),
});

/** What comes of a call, whether it throws or rejects. */
async function outcome(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return 'accepted';
  } catch (error) {
    return error;
  }
}

describe.for(rows)('%s', ([, good, call, kept = []]) => {
  const act = (options: unknown): Promise<unknown> => outcome(() => call(options as Given));

  test('accepts its options', async () => {
    expect(await act(good)).toBe('accepted');
  });

  test('refuses an unknown option', async () => {
    for (const value of [1, undefined])
      expect(await act({ ...good, nonsense: value })).toEqual(
        refusal(/^\S.* has no option "nonsense"\. Known options: \w+/),
      );
  });

  test('refuses options that are not an object', async () => {
    for (const wrong of [null, 5, 'text', [], () => 1]) expect(await act(wrong)).toEqual(coded);
  });

  test('refuses an invalid value of each option', async () => {
    const { message } = (await act({ ...good, nonsense: 1 })) as Error;
    const known = message.replace(/^.*Known options: |\.$/g, '').split(', ');
    for (const name of known.filter((option) => !kept.includes(option)))
      expect([name, await act({ ...good, [name]: Symbol('wrong') })]).toEqual([name, coded]);
  });
});

test('every public function is in the table or has no options', () => {
  const listed = new Set(rows.map(([name]) => name.split(/[.,]/)[0]));
  const exported = { ...root, ...forDrivers, ...forEngines, ...forStores };
  const others = Object.entries(exported).filter(
    ([name, value]) => typeof value === 'function' && !listed.has(name),
  );
  expect(others.map(([name]) => name).toSorted()).toEqual(WITHOUT_OPTIONS.toSorted());
});

/** Values, errors, functions of values, parts of a loop, actions, and what adapters call for each record. */
const WITHOUT_OPTIONS: readonly string[] = `
AgentContext AgentStep AgentStop Continuation InferenceResponse LineageCache List MessageStore Metadata RunAbort StepExecution ToolExecution Usage
DriverError HoldfastError InboxFullError SessionBusyError SessionConflictError SessionNotFoundError SessionSuspectError SessionTooLargeError StateFormatError StoreThrottledError StoreUnavailableError ToolExecutionBlockedError
agentDefinition executionIdOf hasErrorCode invalidArgument isExecutionOf isForceStop isTerminal isTrace metadataKey newStepMessageIds reasoningOf roundedInteger snapshotVersion stopSignal textOf toJsonObject toJsonValue toolCallsOf callMarksOf withCallMarks withoutCallMarks
allSections applyOutcome cancellation conversationWithCurrentToolTrace costOf deadline finishReason messageCompiler nextAction eventListener redactedListener retryLimit selectedSections stepsLimit summaryCompiler timeLimit tokenLimit 
changeModel changeStatus changeSystemPrompt clearHistory pendingApprovals pendingQuestions resume retry serveIsolated sweep withAnswer withDecision writeMetadata
applySavePlan backoff compareDueSessions compareListedSessions recordDueAt matchesDueQuery matchesSessionQuery isAfterCursor isExpired isItemWaiting isUnreadableEntry isUnreadableError listedSession parseSeenWorker parseSessionRecord planSave readSessionRecord readStored recordName restoreSession missingParts requestedParts waitingForOf waitingItemCount waitingPositions
callAfter checkArgument groupLimits metricsText openableChecks optionsCheck
`
  .trim()
  .split(/\s+/);

describe('errors advise what to write instead', () => {
  const model = { modelId: 'gpt-5' };
  test.each<readonly [string, () => unknown, string]>([
    [
      'a model for a loop',
      () => createAgentLoop({ model } as never),
      'createAgentLoop has no option "model": pass a driver, as in driver: aiSdkDriver({ model }).',
    ],
    [
      'a limit beside the budget',
      () => createAgentLoop({ driver, maxSteps: 5 } as never),
      'as in budget: { maxSteps: 5 }',
    ],
    [
      'an object for the list of tools',
      () => createAgentLoop({ driver, tools: { add: 1 } } as never),
      'tools of createAgentLoop must be an array of tools, as in tools: [add], found an object.',
    ],
    ['a misspelt option', () => createAgentLoop({ driver, hook: [] } as never), 'did you mean "hooks"?'],
    [
      'no driver',
      () => createAgentLoop({} as never),
      'needs a driver with a method infer(), as in driver: aiSdkDriver({ model }), found nothing.',
    ],
    [
      'a name for a session',
      () => runtime.create({ name: 'a' } as never),
      'create has no option "name": pass a definition, as in definition: { name: "assistant" }.',
    ],
    [
      'no definition',
      () => runtime.create({} as never),
      'definition of create must be an object, as in definition: { name: "assistant" }, found nothing.',
    ],
    [
      'parameters of a tool',
      () => tool({ ...init, parameters: schema } as never),
      'tool "add" has no option "parameters": pass the schema of the arguments, as in inputSchema:',
    ],
    [
      'a ttl for a store',
      () => new MemorySessionStore({ ttl: 5 } as never),
      'pass an expiry, as in expiry: { afterSeconds: 3600 }',
    ],
    [
      'a price with an unknown member',
      () => createAgentLoop({ driver, prices: { m: { in: 1 } } } as never),
      'the price of "m" has no option "in"',
    ],
    [
      'an unknown hook',
      () => new SessionRuntime({ store, agents: {}, hooks: { beforeLoad: () => undefined } } as never),
      'hooks has no member "beforeLoad": use "afterLoad", which can change the loaded session.',
    ],
    [
      'a hook that is not a function',
      () => new SessionRuntime({ store, agents: {}, hooks: { afterSave: 5 } } as never),
      'afterSave of hooks must be a function, found number 5.',
    ],
    [
      'a list among the settings',
      () => AgentBuilder.of().withSettings({ tools: [] } as never),
      'withSettings has no option "tools": add them with withTools(search, read).',
    ],
  ])('%s', async (_, call, message) => {
    expect(await outcome(call)).toEqual(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringContaining(message) }),
    );
  });

  test('hooks of a class can have other members', () => {
    class Sealing {
      readonly key = 'k';
      beforeSave(): void {}
    }
    expect(() => new SessionRuntime({ store, agents: {}, hooks: new Sealing() })).not.toThrow();
  });
});

test.each<readonly [string, () => unknown]>([
  ['sendMessage', () => sendMessage(undefined as never)],
  ['sendMessage', () => sendMessage({ text: 'Hi.' } as never)],
  ['approve', () => approve(undefined as never)],
  ['deny', () => deny({ id: 'x' } as never)],
  ['finishReason', () => finishReason('lenght' as never)],
  ['cancellation', () => cancellation(true as never)],
  ['on', () => eventListener('step-completed', undefined as never)],
  ['redacted', () => redactedListener(undefined as never)],
  ['redacted', () => redactedListener(() => undefined, 'mask' as never)],
  ['withListeners', () => AgentBuilder.of().withListeners([] as never)],
  ['withTools', () => AgentBuilder.of().withTools([tool(init)] as never)],
  ['withCapabilityFactories', () => AgentBuilder.of().withCapabilityFactories(null as never)],
  ['guardsFor', () => guardsFor({ maxTokens: '5' as never })],
  ['RunAbort', () => new RunAbort('yeild' as never)],
  ['sweep', () => sweep({ store, engine: engine() } as never, undefined as never)],
  ['sweep', () => sweep(store, {} as never)],
  ['serve', () => engine().serve(runtime as never)],
  ['execute', () => runtime.execute(sessionId, 'Hi.' as never)],
])('%s refuses an invalid argument', async (_, call) => {
  expect(await outcome(call)).toEqual(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});
