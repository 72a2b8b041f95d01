import {
  AgentState,
  AgentStop,
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  StoreUnavailableError,
  summarize,
  Usage,
  type AgentLoopOptions,
  type ModelPrices,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import {
  MemorySpendingLedger,
  withSpendingLimit,
  type SpendingLedger,
  type SpendingLimitOptions,
} from '@holdfast/core/spending';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { throwIt } from '../support/builders.ts';

const START = Date.UTC(2027, 0, 31, 10, 30);
const prices: ModelPrices = { small: { input: 1, output: 10 }, large: { input: 10, output: 100 } };
/** 0.2 dollars at the prices of the small model. */
const reply = { text: 'Hi.', usage: { inputTokens: 100_000, outputTokens: 10_000 } };
const question = AgentState.empty().withUserMessage('Hello');
const settings = { model: 'small', maxOutputTokens: 40_000 };

/** A loop whose driver has a limit of a dollar a day for `acme`, and bounds each call by half a dollar. */
function limited(
  answers: readonly ScriptedAnswer[],
  options: Partial<SpendingLimitOptions> = {},
  loopOptions: Partial<AgentLoopOptions> = {},
) {
  const clock = manualClock(START);
  const ledger = options.ledger ?? new MemorySpendingLedger({ clock });
  const driver = scriptedDriver(...answers);
  const defaults = { owner: 'acme', limits: { day: 1 }, prices, upperBound: 0.5 };
  const limitedDriver = withSpendingLimit(driver, { ...defaults, ...options, ledger });
  const loop = createAgentLoop({ driver: limitedDriver, prices, clock, ...loopOptions });
  const run = (state = question.withLlmConfig(settings)) => loop.run(state);
  const day = async () => {
    const { spent, reserved } = (await ledger.read('acme')).day;
    return { spent, reserved };
  };
  return { clock, ledger, driver, limitedDriver, loop, run, day };
}

test('the real cost of a call replaces its reservation', async () => {
  const during: unknown[] = [];
  const { run, day } = limited([
    async () => {
      during.push(await day());
      return reply;
    },
  ]);
  const state = await run();
  expect(during).toEqual([{ spent: 0, reserved: 0.5 }]);
  expect(await day()).toEqual({ spent: 0.2, reserved: 0 });
  expect(state.cost).toBe(0.2);
});

test('a refused reservation stops the execution before the call', async () => {
  const { ledger, driver, run } = limited([]);
  await ledger.settle({ owner: 'acme', inferenceId: 'earlier', amount: 0.75 });
  const state = await run();
  expect(state.status).toBe('stopped');
  expect(state.execution?.continuation.signals).toEqual([
    {
      reason: 'costLimitReached',
      message:
        '$0.75 are spent and $0 reserved of $1 for the day until 2027-02-01T00:00:00.000Z, and the call can cost $0.5.',
      context: {
        window: 'day',
        limit: 1,
        spent: 0.75,
        reserved: 0,
        amount: 0.5,
        until: Date.UTC(2027, 1, 1),
      },
      source: 'spendingLimit',
    },
  ]);
  expect(driver.requests).toEqual([]);
});

test('a refusal stops the execution whatever failures switch the model', async () => {
  const fallback = { models: ['large'], on: ['unknown'] } as const;
  const { driver, run } = limited([], { limits: { day: 0 } }, { fallback });
  const state = await run();
  expect(state.stopReason).toBe('costLimitReached');
  expect(state.lastStep?.inferenceFailures ?? []).toEqual([]);
  expect(driver.requests).toEqual([]);
});

test('the next message works again after the window has ended', async () => {
  const { clock, ledger, limitedDriver } = limited(['Hi.']);
  await ledger.settle({ owner: 'acme', inferenceId: 'earlier', amount: 1 });
  const agents = { writer: createAgentLoop({ driver: limitedDriver, clock }) };
  const runtime = new SessionRuntime({ store: new MemorySessionStore({ clock }), agents, clock });
  const { sessionId } = await runtime.create({ definition: { name: 'writer' } });
  const refused = await runtime.execute(sessionId, sendMessage('Hello'));
  expect(refused.state.status).toBe('stopped');
  clock.advance(14 * 3_600_000);
  const answered = await runtime.execute(sessionId, sendMessage('Hello again'));
  expect(answered.state.status).toBe('completed');
});

test('each step reserves, so that an execution ends when the amount is used up', async () => {
  const call = { content: [toolCall('1')], usage: reply.usage };
  const { run, day, driver } = limited([
    call,
    { ...call, content: [toolCall('2')] },
    { ...call, content: [toolCall('3')] },
  ]);
  const state = await run();
  expect(driver.requests).toHaveLength(3);
  expect(state.status).toBe('stopped');
  expect(await day()).toEqual({ spent: 0.6, reserved: 0 });
});

function toolCall(toolCallId: string) {
  return { type: 'tool-call', toolCallId, toolName: 'nothing', input: {} } as const;
}

test('calls that the loop repeats, and calls of fallback models, each count with the price of their model', async () => {
  const failed = new DriverError('overloaded', 'Too busy.', {
    usage: { inputTokens: 100_000, outputTokens: 0 },
  });
  const { run, day, driver } = limited([failed, reply], { limits: { day: 9 } }, { fallback: ['large'] });
  const state = await run();
  expect(state.status).toBe('completed');
  expect(driver.requests.map(({ llmConfig }) => llmConfig?.model)).toEqual(['small', 'large']);
  expect(await day()).toEqual({ spent: 2.1, reserved: 0 });
});

test('summaries count', async () => {
  const { limitedDriver, clock, day } = limited([reply, reply], { limits: { day: 9 } });
  const { hook, compiler } = summarize({
    driver: limitedDriver,
    llmConfig: settings,
    maxTokens: 10,
    keepTokens: 1,
  });
  const loop = createAgentLoop({ driver: limitedDriver, hooks: [hook], compiler, clock });
  const long = ['one', 'two', 'three'].map((word) => word.repeat(20));
  await loop.run(long.reduce((state, text) => state.withUserMessage(text), question).withLlmConfig(settings));
  expect((await day()).spent).toBe(0.4);
});

describe('a failed call', () => {
  test.each<readonly [string, Error, { spent: number; reserved: number }]>([
    [
      'that the provider refused frees its reservation',
      new DriverError('invalidRequest', 'No.'),
      { spent: 0, reserved: 0 },
    ],
    [
      'with billed usage counts',
      new DriverError('invalidRequest', 'No.', { usage: { inputTokens: 100_000, outputTokens: 10_000 } }),
      { spent: 0.2, reserved: 0 },
    ],
    [
      'whose partial response has usage counts',
      new DriverError('network', 'Lost.', { partialResponse: reply }),
      { spent: 0.2, reserved: 0 },
    ],
    [
      'whose cost is unknown keeps its reservation',
      new DriverError('network', 'Lost.'),
      { spent: 0, reserved: 0.5 },
    ],
    ['of an unknown kind keeps its reservation', new TypeError('Oops.'), { spent: 0, reserved: 0.5 }],
  ])('%s', async (_, error, expected) => {
    const { run, day, clock } = limited([error], {}, { inferenceRetry: { maxElapsedSeconds: 0 } });
    expect((await run()).status).toBe('failed');
    expect(await day()).toEqual(expected);
    clock.advance(900_000);
    expect(await day()).toEqual({ ...expected, reserved: 0 });
  });
});

test('a call without reported tokens counts with its reserved amount', async () => {
  const { run, day } = limited([{ text: 'Hi.', usage: {} }]);
  await run();
  expect(await day()).toEqual({ spent: 0.5, reserved: 0 });
});

describe('an aborted call', () => {
  test.each([
    ['with reported tokens counts', reply.usage, { spent: 0.2, reserved: 0 }],
    [
      'without reported tokens counts with an estimate',
      {},
      { spent: expect.closeTo(0.0001, 4), reserved: 0 },
    ],
  ])('%s', async (_, usage, expected) => {
    const abort = new AbortController();
    const { loop, day } = limited([
      () => {
        abort.abort();
        return { text: 'Hi', finishReason: 'aborted', usage };
      },
    ]);
    await loop.run(question.withLlmConfig(settings), { signal: abort.signal });
    expect(await day()).toEqual(expected);
  });

  test('that was not made frees its reservation', async () => {
    const { limitedDriver, driver, day } = limited([]);
    const options = { signal: AbortSignal.abort(new TypeError('too late')), onDelta: undefined };
    await expect(limitedDriver.infer(request({ model: 'small' }), options)).rejects.toThrow('too late');
    expect(driver.requests).toEqual([]);
    expect(await day()).toEqual({ spent: 0, reserved: 0 });
  });
});

function request(llmConfig: object) {
  const { messages } = question;
  return {
    messages,
    systemPrompt: undefined,
    tools: [],
    toolChoice: 'auto',
    responseFormat: undefined,
    llmConfig,
  } as const;
}

describe('the owner, the limits and the bound', () => {
  test('can depend on the run context, the state and the request', async () => {
    const ledger = new MemorySpendingLedger({ clock: manualClock(START) });
    const driver = withSpendingLimit<{ readonly tenant: string }>(scriptedDriver('Hi.', 'Hi.'), {
      ledger,
      owner: ({ runContext }) => runContext.tenant,
      limits: async (owner) => ({ day: owner === 'rich' ? 100 : 0.1 }),
      upperBound: ({ request: { llmConfig }, modelId, state }) =>
        modelId === 'small' && state?.agentId === question.agentId
          ? (llmConfig?.maxOutputTokens ?? 0) / 80_000
          : 50,
    });
    const loop = createAgentLoop({ driver });
    const state = question.withLlmConfig(settings);
    const statuses = ['rich', 'poor'].map(
      async (tenant) => (await loop.run(state, { runContext: { tenant } })).status,
    );
    expect(await Promise.all(statuses)).toEqual(['completed', 'stopped']);
    expect((await ledger.read('rich')).day.spent).toBe(0.5);
  });

  test('an owner that is no text fails the execution', async () => {
    const { run } = limited([], { owner: ({ runContext }) => runContext as string });
    const { execution } = await run();
    expect(execution?.allErrors[0]?.message).toContain('owner of reserve must be');
  });
});

describe('the default upper bound', () => {
  /** The amount that a call reserves. */
  async function reservedFor(call: object, options: Partial<SpendingLimitOptions> = {}) {
    const amounts: number[] = [];
    const ledger: SpendingLedger = new MemorySpendingLedger();
    const watched = {
      reserve: (reservation) => {
        amounts.push(reservation.amount);
        return ledger.reserve(reservation);
      },
      settle: async () => undefined,
      release: async () => undefined,
      read: (owner) => ledger.read(owner),
      close: async () => undefined,
    } satisfies SpendingLedger;
    const driver = withSpendingLimit(scriptedDriver('Hi.'), {
      ledger: watched,
      owner: 'a',
      limits: {},
      prices,
      ...options,
    });
    const never = new AbortController().signal;
    await driver.infer({ ...request(settings), ...call }, { signal: never, onDelta: undefined });
    return amounts[0] ?? 0;
  }

  test('is the price of the estimated input and of the largest output', async () => {
    const plain = await reservedFor({});
    expect(plain).toBeGreaterThan(0.4);
    expect(plain).toBeLessThan(0.4001);
    const prompt = await reservedFor({ systemPrompt: 'x'.repeat(400_000) });
    expect(prompt - plain).toBeCloseTo(0.1, 6);
    const large = await reservedFor({ llmConfig: { ...settings, model: 'provider:large' } });
    expect(large / plain).toBeCloseTo(10, 3);
  });

  test('counts the input as written to the cache if that is dearer', async () => {
    const cached: ModelPrices = { small: { input: 1, output: 10, cacheWrite: 100 } };
    const prompt = { systemPrompt: 'x'.repeat(400_000) };
    expect(await reservedFor(prompt, { prices: cached })).toBeCloseTo(10.4, 2);
  });

  test.each<readonly [string, object, string]>([
    [
      'a model without a price',
      { llmConfig: { ...settings, model: 'new' } },
      'model "new" cannot be computed',
    ],
    ['settings without maxOutputTokens', { llmConfig: { model: 'small' } }, 'have no maxOutputTokens'],
    ['no settings', { llmConfig: undefined }, 'the driver’s default model'],
  ])('cannot be computed for %s', async (_, call, says) => {
    const error = expect.objectContaining({
      code: 'SPENDING_UNBOUNDED',
      message: expect.stringContaining(says),
    });
    await expect(reservedFor(call)).rejects.toEqual(error);
  });
});

describe('a ledger that does not answer', () => {
  const outage = () => new StoreUnavailableError('No reply.', { isAmbiguous: true });
  /** A ledger that fails the first calls of its methods. */
  function failing(failures: { reserve?: number; settle?: number; release?: number }): SpendingLedger {
    const ledger = new MemorySpendingLedger({ clock: manualClock(START) });
    const remaining = { reserve: 0, settle: 0, release: 0, ...failures };
    const orFail = <T>(name: keyof typeof remaining, act: () => Promise<T>): Promise<T> =>
      remaining[name]-- > 0 ? Promise.reject(outage()) : act();
    return {
      reserve: (reservation) => orFail('reserve', () => ledger.reserve(reservation)),
      settle: (settlement) => orFail('settle', () => ledger.settle(settlement)),
      release: (call) => orFail('release', () => ledger.release(call)),
      read: (owner) => ledger.read(owner),
      close: () => ledger.close(),
    };
  }

  test('before a call: the model is not called, and the loop repeats the call', async () => {
    const { run, day, driver, clock } = limited([reply], { ledger: failing({ reserve: 1 }) });
    const running = run();
    while (driver.requests.length === 0) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
    const state = await running;
    expect(state.status).toBe('completed');
    expect(state.lastStep?.inferenceFailures).toHaveLength(1);
    expect(state.lastStep?.inferenceFailures[0]?.error.message).toContain(
      'The spending ledger does not answer',
    );
    expect(await day()).toEqual({ spent: 0.2, reserved: 0 });
  });

  test('after a call, once: the call is settled again', async () => {
    const { run, day } = limited([reply], { ledger: failing({ settle: 1 }) });
    expect((await run()).status).toBe('completed');
    expect(await day()).toEqual({ spent: 0.2, reserved: 0 });
  });

  test('after a call, twice: the response is used, and onUnsettled receives the settlement', async () => {
    const unsettled: unknown[] = [];
    const onUnsettled: SpendingLimitOptions['onUnsettled'] = (settlement, error) =>
      unsettled.push({ settlement, error });
    const { run, day } = limited([reply], { ledger: failing({ settle: 2 }), onUnsettled });
    expect((await run()).status).toBe('completed');
    expect(await day()).toEqual({ spent: 0, reserved: 0.5 });
    const settlement = { owner: 'acme', inferenceId: expect.any(String), amount: 0.2 };
    expect(unsettled).toEqual([
      { settlement, error: expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) },
    ]);
  });

  test('after a call, twice: the response is used although onUnsettled throws', async () => {
    const onUnsettled = (): never => throwIt(new Error('no queue'));
    const { run } = limited([reply], { ledger: failing({ settle: 2 }), onUnsettled });
    expect((await run()).finalResponse).toBe('Hi.');
  });

  test('after a refused call: the error of the call remains', async () => {
    const error = new DriverError('invalidRequest', 'No.');
    const { run } = limited([error], { ledger: failing({ release: 1 }) });
    expect((await run()).execution?.allErrors[0]?.code).toBe('DRIVER_INVALID_REQUEST');
  });
});

test('outside of a loop, a refusal is an AgentStop', async () => {
  const { limitedDriver } = limited([], { limits: { total: 0 } });
  const options = { signal: new AbortController().signal, onDelta: undefined };
  await expect(limitedDriver.infer(request(settings), options)).rejects.toBeInstanceOf(AgentStop);
});

test('a cost that the provider reports needs no prices', async () => {
  const ledger = new MemorySpendingLedger();
  const usage = Usage.of({ inputTokens: 1, outputTokens: 1, cost: 0.125 });
  const driver = withSpendingLimit(scriptedDriver({ text: 'Hi.', usage }), {
    ledger,
    owner: 'acme',
    limits: {},
    upperBound: 1,
  });
  await createAgentLoop({ driver }).run(question);
  expect((await ledger.read('acme')).total.spent).toBe(0.125);
});

test.each<readonly [object, string]>([
  [{}, 'ledger of withSpendingLimit must be a SpendingLedger'],
  [{ ledger: {} }, 'ledger of withSpendingLimit must be a SpendingLedger'],
  [{ owner: 1 }, 'owner of withSpendingLimit must be a string or a function'],
  [{ limits: 5 }, 'limits of withSpendingLimit must be limits, as in { day: 5 }, or a function'],
  [{ maxCost: 5 }, 'has no option "maxCost": use "limits"'],
  [{ upperBound: -1 }, 'upperBound of withSpendingLimit must be'],
  [{ prices: undefined }, 'withSpendingLimit needs "prices" or "upperBound".'],
])('withSpendingLimit refuses %o', (changed, message) => {
  const valid = { ledger: new MemorySpendingLedger(), owner: 'a', limits: {}, prices };
  const options = Object.keys(changed).length === 0 ? {} : { ...valid, ...changed };
  expect(() => withSpendingLimit(scriptedDriver(), options as SpendingLimitOptions)).toThrow(message);
});
