import { inspect } from 'node:util';
import {
  createAgentLoop,
  redactedListener,
  subagent,
  toolFor,
  type AgentEvent,
  type AgentState,
  type Hook,
  type RunOptions,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, deferred, does, POINTS, readBack, told } from '../../support/builders.ts';

interface Shop {
  readonly user: string;
}

const ada: Shop = { user: 'ada' };
const inputSchema = { type: 'object' };
const shopTool = toolFor<Shop>();
const whoAmI = shopTool({
  name: 'whoAmI',
  description: 'Returns the user.',
  inputSchema,
  execute: (_, { runContext }) => runContext.user,
});
const scriptOf = (...names: string[]) => [call(...names), 'Done.'] as const;

/** The values of all tool calls, in order. */
function valuesOf(state: AgentState): unknown[] {
  return state.steps.flatMap(({ toolExecutions }) => toolExecutions.map(({ value }) => value));
}

describe('a run with a run context', () => {
  test('passes it to tools, in each of its forms', async () => {
    const loopOf = () => createAgentLoop({ driver: scriptedDriver(...scriptOf('whoAmI')), tools: [whoAmI] });
    expect(valuesOf(await loopOf().run(told(), { runContext: ada }))).toEqual(['ada']);
    expect(valuesOf(await loopOf().stream(told(), { runContext: ada }).result)).toEqual(['ada']);
    let last = told();
    for await (const state of loopOf().iterate(told(), { runContext: ada })) last = state;
    expect(valuesOf(last)).toEqual(['ada']);
  });

  test('passes the same value to each attempt of a tool with a timeout, and to tools without a need for it', async () => {
    const seen: unknown[] = [];
    const flaky = shopTool({
      name: 'flaky',
      description: 'Fails once.',
      inputSchema,
      timeoutSeconds: 60,
      retry: { maxAttempts: 2, delaySeconds: 0 },
      execute(_, { runContext, attempt }) {
        seen.push(runContext);
        if (attempt === 1) throw new Error('Not yet.');
        return runContext.user;
      },
    });
    const plain = does('plain', (_, { runContext }) => void seen.push(runContext));
    const driver = scriptedDriver(...scriptOf('flaky', 'plain'));
    await createAgentLoop({ driver, tools: [flaky, plain], maxParallelTools: 1 }).run(told(), {
      runContext: ada,
    });
    expect(seen).toHaveLength(3);
    expect(seen.every((value) => value === ada)).toBe(true);
  });

  test('passes it to the hooks of all points, to guards and to needsApproval', async () => {
    const seen = new Map<string, unknown>();
    const points = POINTS.map((point) => [
      point,
      (_: unknown, { runContext }: { runContext: unknown }) => void seen.set(point, runContext),
    ]);
    const all: Hook<Shop> = {
      ...(Object.fromEntries(points) as Hook<Shop>),
      checkLimit: (_, { runContext }) => void seen.set('checkLimit', runContext),
      stepDeadline: (_, { runContext }) => void seen.set('stepDeadline', runContext),
      checkRequest: (_, { runContext }) => void seen.set('checkRequest', runContext),
    };
    const guarded = shopTool({
      name: 'guarded',
      description: 'Asks for approval of strangers only.',
      inputSchema,
      needsApproval: (_, { runContext }) => runContext !== ada,
      execute: () => 'done',
    });
    const tooLong = new DriverError('contextTooLong', 'Too long.');
    const driver = scriptedDriver(call('guarded'), tooLong);
    const loop = createAgentLoop({ driver, tools: [guarded], hooks: [all] });
    const state = await loop.run(told(), { runContext: ada });
    expect(valuesOf(state)).toEqual(['done']);
    expect([...seen.keys()].toSorted()).toEqual(
      [...POINTS, 'checkLimit', 'checkRequest', 'stepDeadline']
        .filter((point) => point !== 'onStop')
        .toSorted(),
    );
    expect([...seen.values()].every((value) => value === ada)).toBe(true);
    const eve = createAgentLoop({ driver: scriptedDriver(call('guarded')), tools: [guarded] });
    expect((await eve.run(told(), { runContext: { user: 'eve' } })).status).toBe('suspended');
  });

  test('passes it to onStop', async () => {
    const seen: unknown[] = [];
    const hook: Hook<Shop> = { onStop: (_, { runContext }) => void seen.push(runContext) };
    const driver = scriptedDriver(call('whoAmI'), call('whoAmI'));
    const loop = createAgentLoop({ driver, tools: [whoAmI], hooks: [hook], budget: { maxSteps: 1 } });
    await loop.run(told(), { runContext: ada });
    expect(seen).toEqual([ada]);
  });

  test('passes it to reconcile, when another process resolves a call in doubt', async () => {
    const controller = new AbortController();
    const paying = (execute: () => unknown) =>
      shopTool({
        name: 'pay',
        description: 'Pays.',
        inputSchema,
        execute,
        reconcile: (_, { runContext }) => ({ status: 'done', value: `paid by ${runContext.user}` }),
      });
    const saved: AgentState[] = [];
    const dies = paying(() => controller.abort());
    const first = createAgentLoop({ driver: scriptedDriver(call('pay')), tools: [dies] });
    await first.run(told(), {
      runContext: ada,
      signal: controller.signal,
      checkpoint: { save: async (state) => (saved.push(state), state), mayAct: async () => true },
    });
    const inDoubt = saved.find(({ currentStep }) => currentStep?.toolExecutions[0]?.startedAt !== undefined);
    const second = createAgentLoop({ driver: scriptedDriver('Done.'), tools: [paying(() => 'paid twice')] });
    const resumed = await second.run(readBack(inDoubt as AgentState), { runContext: { user: 'bob' } });
    expect(valuesOf(resumed)).toEqual(['paid by bob']);
  });

  test('keeps the values of runs at the same time apart', async () => {
    const [started, mayEnd] = [deferred(), deferred()];
    const slow = shopTool({
      name: 'slow',
      description: 'Waits.',
      inputSchema,
      async execute(_, context) {
        if (context.runContext.user === 'ada') {
          started.resolve();
          await mayEnd.promise;
        }
        return context.runContext.user;
      },
    });
    const driver = scriptedDriver(call('slow'), call('slow'), 'Done.', 'Done.');
    const loop = createAgentLoop({ driver, tools: [slow] });
    const first = loop.run(told(), { runContext: ada });
    await started.promise;
    const second = await loop.run(told(), { runContext: { user: 'bob' } });
    mayEnd.resolve();
    expect([valuesOf(await first), valuesOf(second)]).toEqual([['ada'], ['bob']]);
  });
});

describe('a run without the run context that its tools need', () => {
  const refused = { code: 'RUN_CONTEXT_MISSING', data: { tools: ['whoAmI'] } };
  const given = (options: RunOptions): never => options as never;

  function refusingLoop() {
    const journal: string[] = [];
    const driver = scriptedDriver('Hello.');
    const hook: Hook = { beforeExecution: () => void journal.push('hook') };
    const listeners = [(event: AgentEvent) => void journal.push(event.type)];
    const loop = createAgentLoop({ driver, hooks: [hook], listeners, tools: [does('plain'), whoAmI] });
    return { loop, driver, journal };
  }

  test('is refused before anything happens', async () => {
    const { loop, driver, journal } = refusingLoop();
    expect(loop.needsRunContext).toBe(true);
    await expect(loop.run(told(), given({}))).rejects.toMatchObject(refused);
    expect(() => loop.iterate(told(), given({}))).toThrow(expect.objectContaining(refused));
    expect(() => loop.stream(told(), given({ runContext: undefined }))).toThrow(
      'Tool whoAmI needs a run context: pass it, as in loop.run(state, { runContext }).',
    );
    expect([journal, driver.requests]).toEqual([[], []]);
  });

  test('is refused for a changed copy of a tool, and names all such tools', async () => {
    const driver = scriptedDriver();
    const loop = createAgentLoop({ driver, tools: [whoAmI, { ...whoAmI, name: 'copy', isResumable: true }] });
    await expect(loop.run(told(), given({}))).rejects.toThrow('Tools whoAmI, copy need a run context');
  });

  test.each([null, 0, '', false])('%j is a run context', async (runContext) => {
    const read = toolFor<typeof runContext>()({
      name: 'read',
      description: 'Reads.',
      inputSchema,
      execute: (_, context) => context.runContext,
    });
    const loop = createAgentLoop({ driver: scriptedDriver(...scriptOf('read')), tools: [read] });
    expect(valuesOf(await loop.run(told(), { runContext }))).toEqual([runContext]);
  });
});

/** A secret that is found in any text, also by `toJSON`, by `toString` and in an error. */
const MARKER = 'marker-7f3a9c';
class Secret {
  readonly token = MARKER;
  toJSON(): string {
    return this.token;
  }
  toString(): string {
    return this.token;
  }
}

/** All that a value holds, hidden members included. */
function textOfAll(value: unknown): string {
  return inspect(value, {
    depth: Infinity,
    showHidden: true,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
  });
}

test('a run context is in no state, event, request, error or log', async () => {
  const secretTool = toolFor<Secret>();
  const uses = (name: string, execute: (secret: Secret) => unknown) =>
    secretTool({
      name,
      description: name,
      inputSchema,
      needsApproval: (_, { runContext }) => runContext.token.length === 0,
      execute: (_, { runContext }) => execute(runContext),
    });
  const throwing = uses('throwing', (secret) => {
    throw new Error(`The token has ${secret.token.length} letters.`);
  });
  const inner = createAgentLoop({
    driver: scriptedDriver(...scriptOf('fine')),
    tools: [uses('fine', () => 'ok')],
  });
  const nested = subagent({ name: 'nested', description: 'Asks.', loop: inner });
  const tools = [uses('fine', () => 'ok'), throwing, nested];
  const calls = {
    calls: [
      ['fine', {}],
      ['throwing', {}],
      ['nested', { prompt: 'Go' }],
      ['unknown', {}],
    ],
  } as const;
  const driver = scriptedDriver(calls, new Error('The model is down.'));
  const events: unknown[] = [];
  const log: unknown[] = [];
  const saved: unknown[] = [];
  const requests: unknown[] = [];
  const hook: Hook<Secret> = {
    name: 'audit',
    beforeInference: (request) => void requests.push(request),
    afterExecution(_, { runContext }) {
      throw new Error(`The hook knows ${runContext.token.length} letters.`);
    },
  };
  const redacted = redactedListener((event) => void log.push(event));
  const loop = createAgentLoop({ driver, tools, hooks: [hook], listeners: [redacted] });
  const state = await loop.run(told(), {
    runContext: new Secret(),
    onEvent: (event) => void events.push(event),
    checkpoint: { save: async (known) => (saved.push(known), known), mayAct: async () => true },
  });
  expect(state.errors.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      'The token has 13 letters.',
      expect.stringContaining('The hook knows 13 letters.'),
    ]),
  );
  expect(valuesOf(state)).toEqual(['ok', undefined, 'Done.', undefined]);
  const produced = { state, events, log, saved, requests, received: driver.requests };
  expect(textOfAll(produced)).not.toContain(MARKER);
  expect(JSON.stringify(produced)).not.toContain(MARKER);
  expect(textOfAll({ secret: new Secret() })).toContain(MARKER);
});
