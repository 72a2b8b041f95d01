import {
  AgentBuilder,
  AgentSession,
  AgentState,
  AgentStop,
  answer,
  approve,
  createAgentLoop,
  deny,
  MemorySessionStore,
  pendingApprovals,
  regenerate,
  pendingQuestions,
  resume,
  RunAbort,
  sendMessage,
  SessionRuntime,
  SessionTooLargeError,
  structuredOutput,
  subagent,
  summarize,
  tool,
  toolFor,
  type AgentDefinition,
  type AgentLoopOptions,
  type Hook,
  type SessionRuntimeOptions,
  type Tool,
} from '@holdfast/core';
import { AgentId, IsolatedProcess } from '@holdfast/core/engine';
import { MemorySpendingLedger, withSpendingLimit } from '@holdfast/core/spending';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { BackedSessionStore } from '@holdfast/core/store';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { errorOfStandstill } from './standstill.ts';
import { WatchedBackend } from './watched-backend.ts';

/** An error that was thrown, or its record in a state. */
type Example = { readonly code?: string; readonly message: string } | undefined;

const NOON = Date.parse('2026-07-01T12:00:00Z');
const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const oslo = { city: 'Oslo' };
const weather = weatherWith({});

/** A schema by the Standard Schema convention that returns this for any value. */
const returning = (change: (value: object) => unknown) => ({
  '~standard': { version: 1, vendor: 'mine', validate: (value: object) => ({ value: change(value) }) },
});
const dated = returning(() => new Date(0));
const withUnit = returning((value) => ({ unit: 'celsius', ...value }));

/** What a call of `provoke` throws. */
async function thrownBy(provoke: () => unknown): Promise<Example> {
  try {
    await provoke();
  } catch (error) {
    return error as Example;
  }
  return undefined;
}

interface RunExample extends Partial<AgentLoopOptions> {
  readonly script?: readonly ScriptedAnswer[];
  readonly state?: AgentState;
}

const question = AgentState.empty().withUserMessage('How is the weather in Oslo?');

function runOf({ script = [], state = question, ...options }: RunExample): Promise<AgentState> {
  return createAgentLoop({ driver: scriptedDriver(...script), ...options }).run(state);
}

/** The first error in the state after a run. */
async function errorAfter(example: RunExample): Promise<Example> {
  return (await runOf(example)).errors[0];
}

/** The error of the call of a tool after which the model ends. */
function errorOfCall(of: Tool, options: RunExample = {}): Promise<Example> {
  const script = options.script ?? [{ calls: { [of.name]: oslo } }, 'Done.'];
  return errorAfter({ tools: [of], ...options, script });
}

const malformed = { content: [], finishReason: 'other', rawFinishReason: 'malformed_function_call' } as const;

function weatherWith(options: object): Tool {
  const base = { name: 'weather', description: 'Reports the weather.', inputSchema };
  return tool({ ...base, execute: () => 'sunny', ...options });
}

const askCity = tool({
  name: 'askCity',
  description: 'Asks the user for a city.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'string' },
  answerTimeoutSeconds: 60,
});

const definition: AgentDefinition = { name: 'guide' };

function runtimeOf(script: readonly ScriptedAnswer[] = [], options: Partial<SessionRuntimeOptions> = {}) {
  const clock = manualClock(NOON);
  const store = new MemorySessionStore({ clock, maxInboxItems: 1 });
  const approved = weatherWith({ needsApproval: true });
  const guide = createAgentLoop({ driver: scriptedDriver(...script), tools: [approved, askCity], clock });
  return { clock, store, runtime: new SessionRuntime({ store, clock, agents: { guide }, ...options }) };
}

async function createdSession(script?: readonly ScriptedAnswer[]) {
  const world = runtimeOf(script);
  return { ...world, session: await world.runtime.create({ sessionId: 'trip-1', definition }) };
}

/** A session whose model has requested two answers. */
async function askedSession() {
  const calls = [
    ['askCity', {}],
    ['askCity', {}],
  ] as const;
  const world = await createdSession([{ calls }, 'Done.']);
  const { state } = await world.runtime.execute('trip-1', sendMessage('Weather?'));
  return { ...world, asked: pendingQuestions(state).map(({ id }) => id) };
}

async function busySession() {
  const world = await createdSession();
  await world.store.claim('trip-1', { workerId: 'worker-7', leaseSeconds: 30 });
  return world;
}

/** A backend whose sessions other writers change all the time. */
class BusyBackend extends WatchedBackend {
  override compareAndSet(...args: Parameters<WatchedBackend['compareAndSet']>) {
    const [, before] = args;
    return before === undefined ? super.compareAndSet(...args) : Promise.resolve('outdated' as const);
  }
}

const hook = (methods: Omit<Hook, 'name'>): Hook => ({ name: 'audit', ...methods });
const priced = AgentState.empty().withLlmConfig({ model: 'gpt-5' }).withUserMessage('Hello');

/** An example of each code of core whose message core itself writes. */
export const ERROR_EXAMPLES: Readonly<Record<string, () => Promise<Example>>> = {
  AGENT_NOT_BUILDABLE: () =>
    thrownBy(() =>
      AgentBuilder.of({ driver: scriptedDriver(), tools: [weather] }).build({
        name: 'editor',
        tools: ['spell'],
      }),
    ),
  AGENT_NOT_FOUND: () =>
    thrownBy(async () => {
      const { runtime } = runtimeOf();
      await runtime.create({ sessionId: 'trip-1', definition: { name: 'guide2' } });
      await runtime.execute('trip-1', sendMessage('Hello'));
    }),
  AGENT_STOP: () =>
    thrownBy(() => {
      throw new AgentStop({ reason: 'stopRequested', message: 'The shop is closed.', source: 'shop' });
    }),
  ANSWER_GIVEN: () =>
    thrownBy(async () => {
      const { runtime, asked } = await askedSession();
      const [first = '', second = ''] = asked;
      await runtime.execute('trip-1', answer(first, 'Oslo', { by: 'Ada' }));
      await runtime.execute('trip-1', answer(first, 'Bergen'));
      await runtime.execute('trip-1', answer(second, 'Bergen'));
    }),
  ANSWER_INVALID: () =>
    thrownBy(async () => {
      const { runtime, asked } = await askedSession();
      await runtime.execute('trip-1', answer(asked[0] ?? '', 5));
    }),
  ANSWER_NOT_FOUND: () =>
    thrownBy(async () => {
      const { runtime } = await createdSession();
      await runtime.execute('trip-1', answer('00000000-0000-4000-8000-000000000000', 'Oslo'));
    }),
  ANSWER_TIMEOUT: async () => {
    const { runtime, clock } = await askedSession();
    clock.advance(60_000);
    const { state } = await runtime.execute('trip-1', resume());
    return state.steps[0]?.toolExecutions[0]?.error;
  },
  APPROVAL_DECIDED: () =>
    thrownBy(async () => {
      const { runtime } = await createdSession([
        {
          calls: [
            ['weather', oslo],
            ['weather', oslo],
          ],
        },
      ]);
      const { state } = await runtime.execute('trip-1', sendMessage('Weather?'));
      const toolExecutionId = pendingApprovals(state)[0]?.id ?? '';
      await runtime.execute('trip-1', approve(toolExecutionId, { by: 'Ada' }));
      await runtime.execute('trip-1', deny(toolExecutionId, { by: 'Ben' }));
    }),
  APPROVAL_NOT_FOUND: () =>
    thrownBy(async () => {
      const { runtime } = await createdSession();
      const toolExecutionId = '00000000-0000-4000-8000-000000000000';
      await runtime.execute('trip-1', approve(toolExecutionId));
    }),
  APPROVAL_OUTDATED: () =>
    thrownBy(async () => {
      const { runtime } = await createdSession([{ calls: { weather: oslo } }]);
      const { state } = await runtime.execute('trip-1', sendMessage('Weather?'));
      const [call] = pendingApprovals(state);
      const requestedAt = NOON - 60_000;
      await runtime.execute('trip-1', approve(call?.id ?? '', { requestedAt }));
    }),
  ARGUMENT_INVALID: () =>
    thrownBy(() => createAgentLoop({ driver: scriptedDriver(), budget: { maxStep: 5 } as never })),
  ATTEMPTS_EXHAUSTED: async () => {
    const { runtime, store, clock } = await createdSession(['Hello.']);
    await runtime.enqueue('trip-1', { type: 'message', content: 'Hello' });
    for (let attempt = 1; attempt <= 6; attempt++) {
      const workerId = `worker-${attempt}`;
      await store.claim('trip-1', { workerId, leaseSeconds: 30, ifSuspect: 'alone' });
      clock.advance(31_000);
    }
    await runtime.advance('trip-1');
    return (await runtime.get('trip-1')).state.errors[0];
  },
  CHANNEL_UNAVAILABLE: () =>
    thrownBy(async () => {
      const channel = new MemorySessionChannel();
      await channel.close();
      await channel.notify('trip-1', { type: 'look' });
    }),
  CONTEXT_INVALID: () => thrownBy(() => question.withLlmConfig({ temperature: 'hot' } as never)),
  HOOK_FAILED: () =>
    errorAfter({
      hooks: [
        hook({
          beforeStep() {
            throw new Error('The audit log is full.');
          },
        }),
      ],
    }),
  ID_INVALID: () => thrownBy(() => AgentId.parse('agent-1')),
  INBOX_FULL: () =>
    thrownBy(async () => {
      const { runtime } = await busySession();
      await runtime.enqueue('trip-1', { type: 'message', content: 'One' });
      await runtime.enqueue('trip-1', { type: 'message', content: 'Two' });
    }),
  INFERENCE_INVALID: () => errorAfter({ driver: { infer: async () => 'Sunny.' as never } }),
  ISOLATED_PROCESS_ENDED: () =>
    thrownBy(async () => {
      const module = new URL('killed-worker.ts', import.meta.url);
      await new IsolatedProcess(module, { execArgv: [] }).advance('trip-1');
    }),
  NOT_JSON: () => errorOfCall(weatherWith({ execute: () => 17n })),
  OPERATION_REUSED: () =>
    thrownBy(async () => {
      const { store, session } = await createdSession();
      await store.save(session.withStatus('completed'), { operationId: 'save-1' });
      await store.save(session.withState(question), { operationId: 'save-1' });
    }),
  OUTPUT_INVALID: () => {
    const report = structuredOutput(
      { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
      { maxRepairs: 0 },
    );
    return errorAfter({ script: ['{"degrees": "warm"}'], hooks: [report] });
  },
  OUTPUT_SCHEMA_INVALID: () => thrownBy(() => structuredOutput('number' as never)),
  PRICE_UNKNOWN: () => errorAfter({ state: priced, prices: {}, budget: { maxCost: 1 } }),
  REVISION_NOT_FOUND: () =>
    thrownBy(async () => {
      const { runtime } = await createdSession();
      await runtime.fork('trip-1', { atVersion: 4 });
    }),
  RUN_ABORTED: () => thrownBy(() => AbortSignal.abort(new RunAbort('yield')).throwIfAborted()),
  RUN_CONTEXT_MISSING: () =>
    thrownBy(() => {
      const init = {
        name: 'refund',
        description: 'Refunds an order.',
        inputSchema,
        execute: () => 'refunded',
      };
      const refund = toolFor<{ readonly user: string }>()(init);
      const loop = createAgentLoop({ driver: scriptedDriver(), tools: [refund] });
      return loop.run(question, {} as never);
    }),
  SCRIPT_MISMATCH: () => errorAfter({ script: [] }),
  SESSION_BUSY: () =>
    thrownBy(async () => {
      const { runtime } = await busySession();
      await runtime.execute('trip-1', sendMessage('Hello'), { whenBusy: 'refuse' });
    }),
  SESSION_CONFLICT: () =>
    thrownBy(async () => {
      const { store, session } = await createdSession();
      await store.save(session.withStatus('suspended'));
      await store.save(session.withStatus('completed'));
    }),
  SESSION_NOT_FOUND: () => thrownBy(() => runtimeOf().runtime.get('trip-1')),
  EXECUTION_ACTIVE: () =>
    thrownBy(async () => {
      const { runtime, store, session } = await createdSession();
      await store.save(session.withState(session.state.withUserMessage('Weather?').withExecutionStarted()));
      await runtime.execute('trip-1', regenerate());
    }),
  SESSION_REFUSED: () =>
    thrownBy(async () => {
      const { runtime, store, session } = await createdSession();
      await store.save(session.withStatus('suspended'));
      await runtime.execute('trip-1', sendMessage('Hello'));
    }),
  SESSION_SUSPECT: () =>
    thrownBy(async () => {
      const { store, session, clock } = await createdSession();
      const { sessionId } = session;
      await store.claim(sessionId, { workerId: 'worker-7', leaseSeconds: 30 });
      clock.advance(30_000);
      await store.claim(sessionId, { workerId: 'worker-8', leaseSeconds: 30, ifSuspect: 'refuse' });
    }),
  SESSION_TOO_LARGE: () =>
    thrownBy(() => {
      throw new SessionTooLargeError('trip-1', 41_943_040, 31_457_280);
    }),
  SPENDING_UNBOUNDED: () =>
    thrownBy(() => {
      const limits = { owner: 'acme', limits: { day: 5 }, prices: {} };
      const driver = withSpendingLimit(scriptedDriver(), { ledger: new MemorySpendingLedger(), ...limits });
      const request = { messages: question.messages, tools: [], toolChoice: 'auto' } as const;
      const llmConfig = { model: 'gpt-5' };
      const full = { ...request, systemPrompt: undefined, responseFormat: undefined, llmConfig };
      return driver.infer(full, { signal: new AbortController().signal, onDelta: undefined });
    }),
  STATE_FORMAT: () => thrownBy(() => AgentState.fromJSON({ ...question.toJSON(), createdAt: 'yesterday' })),
  STATE_VERSION: () => thrownBy(() => AgentState.fromJSON({ ...question.toJSON(), version: 99 })),
  STORE_THROTTLED: () =>
    thrownBy(async () => {
      const store = new BackedSessionStore(new BusyBackend());
      const session = await store.create(AgentSession.create({ sessionId: 'trip-1', definition }));
      await store.enqueue(session.sessionId, {
        id: 'hello-1',
        content: { type: 'message', content: 'Hello' },
      });
    }),
  STORE_UNAVAILABLE: () =>
    thrownBy(async () => {
      const { store, runtime } = await createdSession();
      await store.close();
      await runtime.get('trip-1');
    }),
  SUBAGENT_DEPTH_EXCEEDED: async () => {
    const ended: AgentState[] = [];
    const driver = scriptedDriver({ calls: { expert: { prompt: 'Ask further.' } } }, 'In Norway.');
    const seesEnd = hook({ afterExecution: (state) => void ended.push(state) });
    const expert: Tool = subagent({
      name: 'expert',
      description: 'Knows more.',
      loop: () => createAgentLoop({ driver, tools: [expert], hooks: [seesEnd] }),
      maxDepth: 1,
    });
    await errorOfCall(expert, {
      script: [{ calls: { expert: { prompt: 'Where is Oslo?' } } }, 'In Norway.'],
    });
    return ended[0]?.errors[0];
  },
  SUBAGENT_FAILED: () => {
    const loop = createAgentLoop({ driver: scriptedDriver(new Error('The map server is down.')) });
    const expert = subagent({ name: 'expert', description: 'Knows more.', loop });
    return errorOfCall(expert, { script: [{ calls: { expert: { prompt: 'Where?' } } }, 'Sorry.'] });
  },
  SUMMARY_WITHOUT_EFFECT: async () => {
    const errors: Example[] = [];
    const { hook: summaries, compiler } = summarize({
      driver: scriptedDriver(),
      maxTokens: 1_000,
      onError: (error) => void errors.push(error as Example),
    });
    const state = AgentState.empty().withSystemPrompt('You know every street of Oslo. '.repeat(200));
    const loop = createAgentLoop({ driver: scriptedDriver('In Norway.'), hooks: [summaries], compiler });
    await loop.run(state.withUserMessage('Where is Oslo?'));
    return errors[0];
  },
  TOOL_ARGUMENTS_INVALID: () =>
    errorOfCall(weather, { script: [{ calls: { weather: { city: 7 } } }, 'Sorry.'] }),
  TOOL_ARGUMENTS_NOT_JSON: () =>
    errorOfCall(weatherWith({ inputSchema: dated, jsonSchema: inputSchema, needsApproval: true })),
  TOOL_ARGUMENTS_OUTDATED: async () => {
    const { store, runtime } = await createdSession([{ calls: { weather: oslo } }]);
    const [call] = pendingApprovals((await runtime.execute('trip-1', sendMessage('Weather?'))).state);
    const widened = weatherWith({ inputSchema: withUnit, jsonSchema: inputSchema, needsApproval: true });
    const guide = createAgentLoop({ driver: scriptedDriver('Sorry.'), tools: [widened] });
    const next = new SessionRuntime({ store, agents: { guide } });
    return (await next.execute('trip-1', approve(call ?? ''))).state.errors[0];
  },
  TOOL_BLOCKED: () =>
    errorOfCall(weather, {
      hooks: [hook({ beforeToolUse: () => ({ block: 'Not on Sundays.' }) })],
    }),
  TOOL_DENIED: async () => {
    const { runtime } = await createdSession([{ calls: { weather: oslo } }, 'Sorry.']);
    const { state } = await runtime.execute('trip-1', sendMessage('Weather?'));
    const toolExecutionId = pendingApprovals(state)[0]?.id ?? '';
    const denial = deny(toolExecutionId, { reason: 'Too expensive.' });
    return (await runtime.execute('trip-1', denial)).state.errors[0];
  },
  TOOL_FAILED: () => errorOfCall(weatherWith({ execute: () => Promise.reject('no network') })),
  TOOL_INTERRUPTED: () => {
    const controller = new AbortController();
    const execute = () => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const loop = createAgentLoop({
      driver: scriptedDriver({ calls: { weather: oslo } }),
      tools: [weatherWith({ execute })],
    });
    return loop.run(question, { signal: controller.signal }).then(({ errors }) => errors[0]);
  },
  TOOL_NOT_FOUND: () => errorOfCall(weather, { script: [{ calls: { forecast: oslo } }, 'Sorry.'] }),
  DRIVER_EMPTY_ANSWER: () => errorAfter({ script: [{ text: '' }, { text: '' }] }),
  DRIVER_BROKEN_ANSWER: () => errorAfter({ script: [malformed, malformed] }),
  TOOL_RESULT_TOO_LARGE: () => {
    const execute = () => Promise.reject(Object.assign(new Error('No rows.'), { data: 'x'.repeat(2_000) }));
    return errorOfCall(weatherWith({ execute }), { maxResultBytes: 1_024 });
  },
  TOOL_SCHEMA_INVALID: () => thrownBy(() => weatherWith({ inputSchema: 'string' })),
  TOOL_TIMEOUT: () =>
    errorOfCall(weatherWith({ timeoutSeconds: 0.01, execute: () => new Promise(() => undefined) })),
  WORKER_STOOD_STILL: errorOfStandstill,
};
