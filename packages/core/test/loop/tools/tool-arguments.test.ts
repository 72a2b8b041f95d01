import {
  AgentState,
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  redactedListener,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentLoopOptions,
  type AgentSession,
  type Hook,
  type JsonValue,
  type RunOptions,
  type Tool,
  type ToolEffect,
} from '@holdfast/core';
import { withDecision } from '@holdfast/core/engine';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { observe } from '../../support/builders.ts';

const question = AgentState.empty().withUserMessage('Pay.');

/** A tool that records the arguments it receives. */
function payWith(options: object, ran: unknown[] = []): { readonly pay: Tool; readonly ran: unknown[] } {
  const execute = (args: unknown): string => (ran.push(args), 'paid');
  const base = { name: 'pay', description: 'Pays.', inputSchema: z.object({ euros: z.number() }) };
  return { pay: tool({ ...base, execute, ...options } as never), ran };
}

async function run(pay: Tool, input: JsonValue = { euros: 5 }, options: Partial<AgentLoopOptions> = {}) {
  const driver = scriptedDriver({ content: [callOf(input)] }, 'Done.');
  return createAgentLoop({ driver, tools: [pay], ...options }).run(question);
}

const callOf = (input: JsonValue) =>
  ({ type: 'tool-call', toolCallId: 'c', toolName: 'pay', input }) as const;
const first = ({ steps, currentStep }: AgentState) => (steps[0] ?? currentStep)?.toolExecutions[0];

describe('the arguments of a call', () => {
  test('are checked once, and what the rule judged is what the tool receives', async () => {
    const judged: unknown[] = [];
    let price = 80;
    const inputSchema = z
      .object({ item: z.string() })
      .transform((given) => ({ ...given, price: (price += 10) }));
    const needsApproval = (args: unknown): boolean => (judged.push(args), false);
    const { pay, ran } = payWith({ inputSchema, needsApproval });
    const state = await run(pay, { item: 'lamp' });
    expect([judged, ran]).toEqual([[{ item: 'lamp', price: 90 }], [{ item: 'lamp', price: 90 }]]);
    expect([first(state)?.args, first(state)?.call.input]).toEqual([
      { item: 'lamp', price: 90 },
      { item: 'lamp' },
    ]);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).lastToolExecution?.args).toEqual(ran[0]);
  });

  test('that a rule or an attempt changes stay as they were judged', async () => {
    const spoil = (args: { euros: number; tags: string[] }): void => {
      args.euros += 1_000;
      args.tags.push('spoiled');
    };
    const ran: string[] = [];
    const { pay } = payWith({
      inputSchema: z.object({ euros: z.number(), tags: z.array(z.string()).default([]) }),
      needsApproval: (args: never) => (spoil(args), false),
      retry: { maxAttempts: 2, delaySeconds: 0 },
      execute: (args: never) => {
        ran.push(JSON.stringify(args));
        spoil(args);
        if (ran.length === 1) throw new Error('busy');
      },
    });
    const state = await run(pay);
    expect(ran).toEqual(['{"euros":5,"tags":[]}', '{"euros":5,"tags":[]}']);
    expect(first(state)?.args).toEqual({ euros: 5, tags: [] });
  });

  test('are stored only where the check of a tool with a rule changes them', async () => {
    const sorted = z.object({ b: z.number(), a: z.number() });
    const same = await run(payWith({ inputSchema: sorted, needsApproval: () => false }).pay, { a: 1, b: 2 });
    expect([first(same)?.checkedArgs, same.toJSON()]).toMatchObject([undefined, { version: 1 }]);
    const inputSchema = z.object({ day: z.string() }).transform(({ day }) => new Date(day));
    const { pay, ran } = payWith({ inputSchema, jsonSchema: { type: 'object' } });
    const unruled = await run(pay, { day: '2026-11-27' });
    expect(ran).toEqual([new Date('2026-11-27')]);
    expect([first(unruled)?.args, unruled.toJSON()]).toMatchObject([{ day: '2026-11-27' }, { version: 1 }]);
  });

  const invalid = [
    ['that do not fit', payWith({ needsApproval: true }).pay, { euros: 'x' }],
    [
      'that an asynchronous check refuses',
      payWith({ inputSchema: refusing(true), needsApproval: true }).pay,
      {},
    ],
    ['of a tool without a rule', payWith({}).pay, { euros: 'x' }],
    ['of a tool without a rule, asynchronously', payWith({ inputSchema: refusing(true) }).pay, {}],
  ] as const;
  test.each(invalid)('%s end the call before it starts', async (_, pay, input) => {
    const state = await run(pay, input);
    expect([
      state.status,
      first(state)?.error?.code,
      first(state)?.startedAt,
      first(state)?.approval,
    ]).toEqual(['completed', 'TOOL_ARGUMENTS_INVALID', undefined, undefined]);
  });

  test.each<readonly [string, () => unknown]>([
    ['a date', () => new Date(0)],
    ['a map inside', () => ({ a: [new Map()] })],
    ['a number that is not JSON', () => ({ a: Number.NaN })],
    ['an instance of a class', () => new URL('https://example.com')],
    ['nothing', () => undefined],
    ['a hole in a list', () => [undefined]],
    ['a function', () => ({ a: () => 1 })],
  ])('of a tool with a rule must be JSON: %s ends the call', async (_, change) => {
    const inputSchema = z.object({}).transform(change);
    const { pay, ran } = payWith({ inputSchema, jsonSchema: {}, needsApproval: () => false });
    const state = await run(pay, {});
    expect([ran, first(state)?.error?.code]).toEqual([[], 'TOOL_ARGUMENTS_NOT_JSON']);
    expect(first(state)?.error?.message).toContain('Transform inside `execute`.');
  });

  test('whose check flickers do not pass by the approval', async () => {
    for (const isAsync of [false, true]) {
      for (const valid of [1, 2, 3, 4]) {
        const { pay, ran } = payWith({ inputSchema: flickering(valid, isAsync), needsApproval: true });
        const state = await run(pay, {});
        expect(ran).toEqual([]);
        expect(['suspended', 'completed']).toContain(state.status);
      }
    }
  });

  test('are checked within the timeout of the tool', async () => {
    const clock = manualClock(0);
    const hanging = {
      '~standard': { version: 1, vendor: 'mine', validate: () => new Promise(() => undefined) },
    };
    const { pay, ran } = payWith({ inputSchema: hanging, jsonSchema: {}, timeoutSeconds: 5 });
    const running = run(pay, {}, { clock });
    const state = await passing(clock, running);
    expect([ran, state.status, first(state)?.error?.code]).toEqual([[], 'completed', 'TOOL_TIMEOUT']);
    expect(first(state)?.startedAt).toBeUndefined();
  });
});

describe('an approval rule', () => {
  test.each([undefined, null, 0, '', 'yes', 'false', 1, {}, true, Promise.resolve(undefined)])(
    'that returns %s requests an approval',
    async (answer) => {
      const { pay, ran } = payWith({ needsApproval: () => answer });
      expect([(await run(pay)).status, ran]).toEqual(['suspended', []]);
    },
  );

  test('lets a call run by returning false, or a promise of it', async () => {
    const { pay, ran } = payWith({ needsApproval: () => false });
    await run(pay);
    await run(payWith({ needsApproval: async () => false }, ran).pay);
    expect(ran).toEqual([{ euros: 5 }, { euros: 5 }]);
  });

  test.each([
    ['throws', () => noService()],
    ['rejects', async () => noService()],
  ])('that %s fails the call', async (_, needsApproval) => {
    const { pay, ran } = payWith({ needsApproval });
    expect([first(await run(pay))?.error?.message, ran]).toEqual(['The rule service is down.', []]);
  });

  test.each([undefined, 5])(
    'that hangs requests an approval: with a timeout of %s',
    async (timeoutSeconds) => {
      const clock = manualClock(0);
      const needsApproval = (): Promise<boolean> => new Promise(() => undefined);
      const { pay, ran } = payWith({ needsApproval, ...(timeoutSeconds && { timeoutSeconds }) });
      const state = await passing(clock, run(pay, { euros: 5 }, { clock }));
      expect([state.status, ran]).toEqual(['suspended', []]);
    },
  );

  test('is asked again before a retry, about the same value', async () => {
    const judged: unknown[] = [];
    let isOpen = true;
    const { pay, ran } = payWith({
      needsApproval: (args: unknown) => (judged.push(args), !isOpen),
      retry: { maxAttempts: 3, delaySeconds: 0 },
    });
    const failing = { ...pay, execute: (args: unknown) => (ran.push(args), (isOpen = false), noService()) };
    const state = await run(failing);
    expect([ran, judged, state.status]).toEqual([[{ euros: 5 }], [{ euros: 5 }, { euros: 5 }], 'suspended']);
    expect(pendingApprovals(state).map(({ args, attempt }) => [args, attempt])).toEqual([[{ euros: 5 }, 1]]);
  });

  test('that fails before a retry ends the call with its own error', async () => {
    let asked = 0;
    const needsApproval = (): boolean => asked++ > 0 && noService();
    const { pay } = payWith({ needsApproval, retry: { maxAttempts: 3, delaySeconds: 0 } });
    const failing = { ...pay, execute: () => Promise.reject(new Error('busy')) };
    expect(first(await run(failing))?.error?.message).toBe('The rule service is down.');
  });
});

describe('a call in doubt', () => {
  const effects: readonly ToolEffect[] = ['readOnly', 'idempotent'];
  /** Starts a call in a process that dies in its tool, and continues it with the tool of another release. */
  async function resumed(
    before: object,
    after: object,
    effect: ToolEffect,
    input: JsonValue = { euros: 5 },
    options: RunOptions = {},
  ) {
    const store = new MemorySessionStore();
    const saved: AgentState[] = [];
    const { pay } = payWith({ effect, ...before });
    const dying = { ...pay, execute: () => new Promise(() => undefined) };
    const driver = scriptedDriver({ content: [callOf(input)] });
    const checkpoint = { save: async (state: AgentState) => (saved.push(state), state) };
    void createAgentLoop({ driver, tools: [dying] }).run(question, { checkpoint });
    await expect.poll(() => saved.some((state) => first(state)?.isRunning)).toBe(true);
    const state = saved.find((each) => first(each)?.isRunning) as AgentState;
    const next = payWith({ effect, ...after });
    const loop = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [next.pay] });
    return {
      state: await loop.run(AgentState.fromJSON(JSON.parse(JSON.stringify(state))), options),
      ran: next.ran,
      loop,
      store,
    };
  }

  test.each(effects)('asks the rule of the release that repeats it: %s', async (effect) => {
    const { state, ran } = await resumed({}, { needsApproval: true }, effect);
    expect([state.status, ran, pendingApprovals(state).length]).toEqual(['suspended', [], 1]);
    const judged: unknown[] = [];
    const needsApproval = (args: unknown): boolean => (judged.push(args), false);
    const inputSchema = z.object({ euros: z.number(), fee: z.number().default(2) });
    const widened = await resumed({ needsApproval: () => false }, { inputSchema, needsApproval }, effect);
    expect([widened.ran, judged]).toEqual([[{ euros: 5, fee: 2 }], [{ euros: 5, fee: 2 }]]);
    expect(first(widened.state)).toMatchObject({ args: { euros: 5, fee: 2 }, attempt: 2 });
  });

  test.each(effects)('whose arguments are not valid any more is not repeated: %s', async (effect) => {
    const inputSchema = z.object({ euros: z.number().max(1) });
    const { state, ran } = await resumed({}, { inputSchema }, effect);
    expect([ran, first(state)?.outcome?.type, first(state)?.error?.cause?.code]).toEqual([
      [],
      'interrupted',
      'TOOL_ARGUMENTS_INVALID',
    ]);
  });

  test('of a tool with the effect "ask" shows the value that it would receive', async () => {
    const inputSchema = z.object({ euros: z.number(), fee: z.number().default(2) });
    const { state, ran } = await resumed({}, { inputSchema }, 'ask');
    expect([state.status, ran, pendingApprovals(state).map(({ args }) => args)]).toEqual([
      'suspended',
      [],
      [{ euros: 5, fee: 2 }],
    ]);
  });

  test('of such a tool receives any value of its schema after the approval', async () => {
    const inputSchema = z.object({ euros: z.number() }).transform(({ euros }) => ({ sum: () => euros }));
    const ran: unknown[] = [];
    const execute = ({ sum }: { sum: () => number }): void => void ran.push(sum());
    const after = { inputSchema, jsonSchema: {}, execute };
    const { state, loop } = await resumed({}, after, 'ask');
    const [call] = pendingApprovals(state);
    const decision = { toolExecutionId: call?.id ?? '', decision: 'approved' } as const;
    const ended = await loop.run(await withDecision(state, decision, loop.tools, state.updatedAt));
    expect([ran, ended.status, first(ended)?.error]).toEqual([[5], 'completed', undefined]);
  });

  test.each<ToolEffect>(['ask', 'idempotent'])(
    'ends without an error of its check when the run is cancelled meanwhile: %s',
    async (effect) => {
      const abort = new AbortController();
      const inputSchema = z.object({}).refine(() => {
        abort.abort();
        return new Promise<boolean>(() => undefined);
      });
      const options = { signal: abort.signal };
      const { state, ran } = await resumed({}, { inputSchema }, effect, { euros: 5 }, options);
      const { outcome, error } = first(state) ?? {};
      expect([state.status, ran, outcome?.type, error?.cause]).toEqual([
        'stopped',
        [],
        'interrupted',
        undefined,
      ]);
    },
  );
});

describe('an approved call', () => {
  const store = new MemorySessionStore();
  function release(options: object, ...script: Parameters<typeof scriptedDriver>) {
    const { pay, ran } = payWith({ needsApproval: true, ...options });
    const loop = createAgentLoop({ driver: scriptedDriver(...script), tools: [pay] });
    return { runtime: new SessionRuntime({ store, agents: { clerk: loop } }), ran };
  }
  async function asked(options: object, input: JsonValue) {
    const { runtime } = release(options, { content: [callOf(input)] });
    const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
    const session = await runtime.execute(sessionId, sendMessage('Pay.'));
    return { sessionId, call: pendingOf(session) };
  }
  const pendingOf = ({ state }: AgentSession) => pendingApprovals(state)[0] ?? '';
  const order = z.object({ text: z.string() });

  const rows: readonly (readonly [string, object, object, JsonValue, unknown])[] = [
    ['the same release', {}, {}, { euros: 5 }, { euros: 5 }],
    ['a schema that changes texts', { inputSchema: last() }, { inputSchema: last() }, 'Ann|Eve', 'Eve'],
    [
      'a price that has changed',
      { inputSchema: priced(90) },
      { inputSchema: priced(120) },
      {},
      { price: 90 },
    ],
    [
      'a wider schema',
      { inputSchema: order },
      { inputSchema: order.extend({ to: z.string().optional() }) },
      { text: 'a' },
      { text: 'a' },
    ],
    [
      'a schema with a new default',
      { inputSchema: order },
      { inputSchema: order.extend({ to: z.string().default('eve') }) },
      { text: 'a' },
      'TOOL_ARGUMENTS_OUTDATED',
    ],
    [
      'a schema that now counts in cents',
      { inputSchema: z.object({ price: z.number() }) },
      { inputSchema: z.object({ price: z.number().transform((euros) => euros * 100) }) },
      { price: 5 },
      'TOOL_ARGUMENTS_OUTDATED',
    ],
    [
      'a schema that removes a member',
      { inputSchema: order.loose() },
      { inputSchema: order },
      { text: 'a', to: 'b' },
      'TOOL_ARGUMENTS_OUTDATED',
    ],
    [
      'a narrower schema',
      { inputSchema: order },
      { inputSchema: z.object({ text: z.string().max(1) }) },
      { text: 'long' },
      'TOOL_ARGUMENTS_OUTDATED',
    ],
    [
      'a schema that returns a date',
      { inputSchema: order },
      { inputSchema: order.transform(() => new Date(0)), jsonSchema: {} },
      { text: 'a' },
      'TOOL_ARGUMENTS_OUTDATED',
    ],
    [
      'a tool without a rule',
      { inputSchema: priced(90) },
      { inputSchema: priced(120), needsApproval: false },
      {},
      { price: 90 },
    ],
  ];
  test.each(rows)(
    'runs with exactly the approved value, or not at all: %s',
    async (_, before, after, input, expected) => {
      const { sessionId, call } = await asked(before, input);
      const { runtime, ran } = release(after, 'Done.');
      const { state } = await runtime.execute(sessionId, approve(call));
      const result = first(state)?.error?.code ?? ran[0];
      expect([result, ran.length]).toEqual([
        expected,
        typeof expected === 'string' && expected.startsWith('TOOL_') ? 0 : 1,
      ]);
    },
  );

  test('keeps its arguments, whatever a hook returns', async () => {
    const spends: Hook = {
      beforeExecution(state, { clock }) {
        const { currentStep: step } = state;
        const [approved] = step?.toolExecutions ?? [];
        const spent = approved?.withCheckedArgs({ euros: 5_000 });
        return spent && step && state.withCurrentStep(step.withToolExecution(spent), clock.now());
      },
    };
    const { sessionId, call } = await asked({}, { euros: 5 });
    const { pay, ran } = payWith({ needsApproval: true });
    const loop = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [pay], hooks: [spends] });
    const runtime = new SessionRuntime({ store, agents: { clerk: loop } });
    await runtime.execute(sessionId, approve(call));
    expect(ran).toEqual([{ euros: 5 }]);
  });

  test('is approved with the arguments that the person saw, whatever a hook changes meanwhile', async () => {
    const spends = (session: AgentSession): AgentSession => {
      const step = session.state.currentStep;
      const spent = first(session.state)?.withCheckedArgs({ euros: 5_000 });
      if (spent === undefined || step === undefined) return session;
      return session.withState(session.state.withCurrentStep(step.withToolExecution(spent)));
    };
    const { sessionId, call } = await asked({}, { euros: 5 });
    const { pay, ran } = payWith({ needsApproval: true });
    const clerk = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [pay] });
    const runtime = new SessionRuntime({ store, agents: { clerk }, hooks: { afterLoad: spends } });
    await runtime.execute(sessionId, approve(call));
    expect(ran).toEqual([{ euros: 5 }]);
  });

  test('with edited arguments keeps what the model wrote, and the tool receives the edit', async () => {
    const { sessionId, call } = await asked({}, { euros: 500 });
    const { runtime, ran } = release({}, 'Done.');
    const { state } = await runtime.execute(sessionId, approve(call, { input: { euros: 50 } }));
    expect([ran, first(state)?.args, first(state)?.call.input]).toEqual([
      [{ euros: 50 }],
      { euros: 50 },
      { euros: 500 },
    ]);
  });

  test('whose edit the schema changes is asked again, for the changed value', async () => {
    const inputSchema = z.object({ euros: z.number(), fee: z.number().default(2) });
    const { sessionId, call } = await asked({ inputSchema }, { euros: 500 });
    const { runtime, ran } = release({ inputSchema }, 'Done.');
    const again = await runtime.execute(sessionId, approve(call, { input: { euros: 50 } }));
    const shown = pendingOf(again);
    expect([again.state.status, ran, shown !== '' && shown.args]).toEqual([
      'suspended',
      [],
      { euros: 50, fee: 2 },
    ]);
    await expect(runtime.execute(sessionId, approve(call))).rejects.toMatchObject({
      code: 'APPROVAL_OUTDATED',
    });
    await runtime.execute(sessionId, approve(shown));
    expect(ran).toEqual([{ euros: 50, fee: 2 }]);
  });

  test.each([
    [{ euros: 'x' }, 'TOOL_ARGUMENTS_INVALID'],
    [null, 'TOOL_ARGUMENTS_INVALID'],
  ])('refuses the edit %j, and still waits', async (input, code) => {
    const { sessionId, call } = await asked({}, { euros: 500 });
    const { runtime, ran } = release({}, 'Done.');
    await expect(runtime.execute(sessionId, approve(call, { input }))).rejects.toMatchObject({ code });
    expect([ran, pendingOf(await runtime.get(sessionId))]).toMatchObject([[], { args: { euros: 500 } }]);
  });

  test('refuses an edit whose checked value its schema does not accept, because it could never run', async () => {
    const inputSchema = z.object({ euros: z.string().transform(Number) });
    const { sessionId, call } = await asked({ inputSchema }, { euros: '500' });
    const { runtime, ran } = release({ inputSchema }, 'Done.');
    await expect(runtime.execute(sessionId, approve(call, { input: { euros: '50' } }))).rejects.toMatchObject(
      {
        code: 'TOOL_ARGUMENTS_INVALID',
        message: expect.stringContaining('a person cannot edit them'),
      },
    );
    await runtime.execute(sessionId, approve(call));
    expect(ran).toEqual([{ euros: 500 }]);
  });

  test('is decided through the inbox as by an action', async () => {
    const inputSchema = z.object({ euros: z.number(), fee: z.number().default(2) });
    const { sessionId, call } = await asked({ inputSchema }, { euros: 500 });
    if (typeof call === 'string') throw new Error('No call waits.');
    const { runtime, ran } = release({ inputSchema }, 'Done.');
    const decision = { type: 'decision', toolExecutionId: call.id, decision: 'approved' } as const;
    await runtime.enqueue(sessionId, { ...decision, input: { euros: 'x' } });
    await runtime.enqueue(sessionId, { ...decision, input: { euros: 7 } });
    await runtime.advance(sessionId);
    expect([ran, pendingOf(await runtime.get(sessionId))]).toMatchObject([
      [],
      { args: { euros: 7, fee: 2 } },
    ]);
  });
});

const OBJECT = { type: 'object', properties: { tags: { type: 'array' }, of: { type: 'object' } } } as const;

test.each([
  ['a zod schema', z.object({ tags: z.array(z.string()), of: z.object({ n: z.number() }) })],
  ['a zod schema that accepts anything', z.any()],
  ['a JSON Schema', OBJECT],
] as const)('a tool may change its arguments, and changes a copy: %s', async (_, inputSchema) => {
  const received: unknown[] = [];
  const add = tool({
    name: 'add',
    description: 'Adds a tag.',
    inputSchema: inputSchema as typeof OBJECT,
    retry: { maxAttempts: 2, delaySeconds: 0 },
    execute: (given: unknown) => {
      const args = given as { tags: string[]; of: { n: number } };
      received.push(structuredClone(args));
      args.tags.push('new');
      args.of.n++;
      if (received.length === 1) throw new Error('Again.');
      return args;
    },
  });
  const input = { tags: ['x'], of: { n: 1 } };
  const { state } = await observe({ script: [{ calls: { add: input } }, 'Done.'], tools: [add] });
  const execution = state.lastToolExecution;
  expect(received).toEqual([input, input]);
  expect([execution?.args, execution?.value]).toEqual([input, { tags: ['x', 'new'], of: { n: 2 } }]);
});

test('a value that a schema made of other parts is passed as it is', async () => {
  const at: unknown[] = [];
  const inputSchema = z.object({ at: z.string().transform((text) => new Date(text)) });
  const wait = tool({ name: 'wait', description: '', inputSchema, execute: (args) => void at.push(args.at) });
  await observe({ script: [{ calls: { wait: { at: '2026-01-01' } } }, 'Done.'], tools: [wait] });
  expect(at).toEqual([new Date('2026-01-01')]);
});

test('a redacted listener receives no checked arguments', async () => {
  const inputSchema = z.object({ euros: z.number(), iban: z.string().default('DE00 SECRET') });
  const { pay } = payWith({ inputSchema, needsApproval: () => false });
  const script = [{ calls: { pay: { euros: 5 } } }, 'Done.'] as const;
  const events: string[] = [];
  const listener = redactedListener((event) => void events.push(JSON.stringify(event)));
  await observe({ script, tools: [pay], listeners: [listener] });
  expect(events.some((event) => event.includes('SECRET'))).toBe(false);
});

function noService(): never {
  throw new Error('The rule service is down.');
}

/** A schema that refuses every value. */
function refusing(isAsync: boolean): object {
  return z.object({}).refine(() => (isAsync ? Promise.resolve(false) : false), 'refused');
}

/** A schema that refuses values until it was asked so many times. */
function flickering(valid: number, isAsync: boolean): object {
  let asked = 0;
  return z.object({}).refine(() => (isAsync ? Promise.resolve(++asked > valid) : ++asked > valid), 'not yet');
}

function last(): object {
  return z.string().transform((text) => text.split('|').at(-1));
}

function priced(price: number): object {
  return z.object({}).transform(() => ({ price }));
}

/** The state after a run that needs the time of its clock to pass. */
async function passing(
  clock: ReturnType<typeof manualClock>,
  running: Promise<AgentState>,
): Promise<AgentState> {
  const found: AgentState[] = [];
  void running.then((state) => found.push(state));
  while (found.length === 0) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return running;
}
