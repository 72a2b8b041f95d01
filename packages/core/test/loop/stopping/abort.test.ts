import { getEventListeners } from 'node:events';
import {
  AgentStop,
  createAgentLoop,
  HoldfastError,
  RunAbort,
  type AgentState,
  type Hook,
  type HookContext,
  type RunOptions,
} from '@holdfast/core';
import { DriverError, InferenceResponse } from '@holdfast/core/driver';
import type { HookPoint } from '@holdfast/core/engine';
import { scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { afterAll, describe, expect, test } from 'vitest';
import {
  call,
  deferred,
  does,
  never,
  observe,
  POINTS,
  recorder,
  told,
  type Observation,
  type Scenario,
} from '../../support/builders.ts';
import {
  CUT_OFF_RUNS,
  deaf,
  honours,
  ignores,
  rejects,
  returns,
  type CutOffRun,
} from '../../support/cut-off.ts';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';
import { outcomesIn } from '../../support/tool-runs.ts';

const unhandled = unhandledRejections();
afterAll(() => {
  if (unhandled.length > 0) throw new AggregateError(unhandled, 'unhandled rejections');
});

type Abortable = CutOffRun['scenario'];

async function aborted(scenario: Abortable, reason?: unknown): Promise<Observation> {
  const controller = new AbortController();
  const made = scenario(() => controller.abort(reason));
  return observe({ ...made, run: { signal: controller.signal } });
}

describe('a cancel ends the execution stopped, by the user', () => {
  const rows: readonly CutOffRun[] = [
    ...CUT_OFF_RUNS,
    { name: 'before the run', scenario: (abort) => (abort(), {}), roles: 'u', calls: 0 },
    {
      name: 'in beforeExecution',
      scenario: (abort) => ({ hooks: [{ beforeExecution: abort }] }),
      roles: 'u',
      calls: 0,
    },
    {
      name: 'in an inference that returns half a call: it is not run',
      scenario: (abort) => ({
        script: [
          returns(abort, {
            content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: '{"x', invalid: 'cut' }],
          }),
        ],
        tools: [does('a')],
      }),
      roles: 'uat',
      outcomes: [],
      calls: 1,
    },
    {
      name: 'even when a hook requests another step',
      scenario: (abort) => ({
        script: [returns(abort, { text: 'Half' })],
        hooks: [{ afterStep: (state) => state.withContinuationRequested() }],
      }),
      roles: 'ua',
      text: 'Half',
      calls: 1,
    },
  ];
  const reasons: readonly (readonly [string, unknown])[] = [
    ['no reason', undefined],
    ['a RunAbort', new RunAbort('cancel')],
    ['an AgentStop', new AgentStop({ reason: 'costLimitReached' })],
  ];
  const table = rows.flatMap((row) => reasons.map(([by, reason]) => ({ ...row, by, reason })));
  test.each(table)('$name, with $by', async ({ scenario, reason, ...row }) => {
    const { state, driver, trace } = await aborted(scenario, reason);
    expect([
      state.status,
      state.stopReason,
      state.errors.filter(({ code }) => code !== 'TOOL_INTERRUPTED'),
    ]).toEqual(['stopped', 'userRequested', []]);
    expect([...state.messages].map(({ role }) => role[0]).join('')).toBe(row.roles);
    expect(state.currentResponse ?? '').toBe(row.text ?? '');
    expect(state.hasFinalResponse).toBe(false);
    expect(outcomesIn(state)).toEqual(row.outcomes ?? []);
    expect(driver.requests).toHaveLength(row.calls);
    expect(trace.slice(-3)).toEqual(['onStop', 'afterExecution', '+stopped']);
    expect(trace.filter((line) => line === '+signal userRequested')).toHaveLength(1);
  });

  test('a complete response stays a final response', async () => {
    const { state } = await aborted((abort) => ({ script: ['Hi.'], hooks: [{ afterStep: abort }] }));
    expect([state.status, state.finalResponse]).toEqual(['completed', 'Hi.']);
  });

  test('the unreported usage of an aborted call counts as unknown', async () => {
    const { state } = await aborted((abort) => ({ script: [rejects(abort)] }));
    expect(state.usage.isComplete).toBe(false);
  });
});

describe('a yield leaves the execution in progress, and another run completes it', () => {
  const tools = [does('a')];
  /** The second run: what the first did is not done again. */
  async function resumed(
    first: Observation,
    script: readonly ScriptedAnswer[],
    ran: string[],
  ): Promise<Observation> {
    const again = ['a', 'slow'].map((name) => does(name, () => (ran.push(name), name)));
    const { state } = first;
    expect([state.status, state.executionCount]).toEqual(['inProgress', 1]);
    const second = await observe({ state, script, tools: again });
    expect(second.trace.slice(0, 2)).toEqual(['+resumed', 'beforeExecution']);
    expect([second.state.executionId, second.state.executionCount]).toEqual([state.executionId, 1]);
    expect(second.state.status).toBe('completed');
    second.driver.assertComplete();
    return second;
  }

  const rows: readonly {
    readonly name: string;
    readonly first: Abortable;
    readonly second: readonly ScriptedAnswer[];
    /** What the second run runs. */
    readonly ran?: readonly string[];
    readonly outcomes?: readonly string[];
  }[] = [
    { name: 'before the run', first: (abort) => (abort(), {}), second: ['Hi.'] },
    {
      name: 'in an inference that rejects',
      first: (abort) => ({ script: [rejects(abort)] }),
      second: ['Hi.'],
    },
    {
      name: 'in an inference that returns a partial response: it is repeated',
      first: (abort) => ({ script: [returns(abort, { text: 'Half' })] }),
      second: ['Hi.'],
    },
    {
      name: 'in an inference that returns a complete response: the response is recorded',
      first: (abort) => ({ script: [ignores(abort, 'Hi.')] }),
      second: [],
    },
    {
      name: 'in an inference that asks for tools in full: they are run by the next',
      first: (abort) => ({ script: [ignores(abort, call('a'))], tools }),
      second: ['Hi.'],
      ran: ['a'],
      outcomes: ['a succeeded'],
    },
    {
      name: 'in a tool: it may end',
      first: (abort) => ({ script: [call('slow')], tools: [does('slow', async () => (abort(), 'done'))] }),
      second: ['Hi.'],
      outcomes: ['slow succeeded'],
    },
    {
      name: 'in the first of two tools, one at a time',
      first: (abort) => ({
        script: [call('slow', 'a')],
        tools: [does('slow', async () => (abort(), 'done')), ...tools],
        maxParallelTools: 1,
      }),
      second: ['Hi.'],
      ran: ['a'],
      outcomes: ['slow succeeded', 'a succeeded'],
    },
    {
      name: 'between two steps',
      first: (abort) => ({ script: [call('a')], tools, hooks: [{ afterStep: abort }] }),
      second: ['Hi.'],
      outcomes: ['a succeeded'],
    },
  ];
  test.each(rows)('$name', async ({ first, second, ran = [], outcomes: expected = [] }) => {
    const before = await aborted(first, new RunAbort('yield'));
    expect(before.trace).not.toContain('afterExecution');
    expect(before.state.stopSignal).toBeUndefined();
    const seen: string[] = [];
    const { state } = await resumed(before, second, seen);
    expect([seen, outcomesIn(state), state.finalResponse]).toEqual([ran, expected, 'Hi.']);
  });

  test('the work before it counts, and the time between the runs does not', async () => {
    const { state } = await aborted(
      (abort) => ({ script: [ignores(abort, call('a'))], tools }),
      new RunAbort('yield'),
    );
    const worked = state.execution?.workedSeconds ?? 0;
    expect(worked).toBeGreaterThan(0);
    const later = (state.execution?.startedAt ?? 0) + 1_000_000;
    const after = await observe({ state, script: ['Hi.'], tools, clock: steppedClock(later) });
    expect(after.state.execution?.workedSeconds).toBeLessThan(worked + 1);
    expect(after.state.executionDuration).toBeGreaterThan(900);
  });
});

describe('a lost run changes nothing afterwards', () => {
  const lost = new RunAbort('lost');
  const tools = [does('a')];
  const rows: readonly (readonly [string, Abortable])[] = [
    ['in beforeExecution', (abort) => ({ hooks: [{ beforeExecution: abort }] })],
    ['in beforeStep', (abort) => ({ hooks: [{ beforeStep: abort }] })],
    ['in beforeInference', (abort) => ({ hooks: [{ beforeInference: abort }] })],
    ['in an inference that rejects', (abort) => ({ script: [rejects(abort)] })],
    ['in an inference that returns a response', (abort) => ({ script: [ignores(abort, 'Hi.')] })],
    ['in afterInference', (abort) => ({ script: ['Hi.'], hooks: [{ afterInference: abort }] })],
    ['in beforeToolUse', (abort) => ({ script: [call('a')], tools, hooks: [{ beforeToolUse: abort }] })],
    ['in a tool that honours it', (abort) => ({ script: [call('slow')], tools: [honours(abort)] })],
    ['in a tool that ignores it', (abort) => ({ script: [call('slow')], tools: [deaf(abort)] })],
    ['in a tool that completes', (abort) => ({ script: [call('a')], tools: [does('a', () => abort())] })],
    ['in afterToolUse', (abort) => ({ script: [call('a')], tools, hooks: [{ afterToolUse: abort }] })],
    ['in afterStep', (abort) => ({ script: ['Hi.'], hooks: [{ afterStep: abort }] })],
    ['in onStop', (abort) => ({ budget: { maxSteps: 0 }, hooks: [{ onStop: abort }] })],
  ];
  test.each(rows)('%s', async (_, scenario) => {
    const after: string[] = [];
    let isLost = false;
    const watch = (abort: () => void): Scenario => {
      const made = scenario(() => {
        abort();
        isLost = true;
      });
      const late: Hook = recorder((point) => void (isLost && after.push(point)));
      return {
        ...made,
        listeners: [({ type }) => void (isLost && after.push(type))],
        hooks: [...(made.hooks ?? []), late],
      };
    };
    const { state } = await aborted(watch, lost);
    expect(state.status).toBe('inProgress');
    // Hooks of the same point may still be asked; nothing else is done or announced.
    expect(after.filter((line) => !/^(before|after|on)/.test(line))).toEqual([]);
    expect(after.length).toBeLessThanOrEqual(1);
  });

  const changes: { readonly [P in HookPoint]?: (state: AgentState) => object } = {
    beforeInference: (state) => ({ state }),
    afterInference: (state) => ({ state, response: InferenceResponse.of({ text: 'Late.' }) }),
    beforeToolUse: (state) => ({ state, block: 'Late.' }),
    afterToolUse: (state) => ({ state }),
  };
  const scripts: { readonly [P in HookPoint]?: readonly Error[] } = {
    onError: [new Error('down')],
    onContextTooLong: [new DriverError('contextTooLong', 'Too long.')],
  };
  test.each(POINTS.flatMap((point) => [[point, 'at once'] as const, [point, 'later'] as const]))(
    'the result of a %s hook, %s, is ignored',
    async (point, when) => {
      const seen: AgentState[] = [];
      const others: string[] = [];
      const { state } = await aborted((abort) => {
        const late = (_: unknown, context: HookContext): unknown => {
          abort();
          seen.push(context.state);
          const changed = context.state.withMetadata('late', true);
          const result = changes[point]?.(changed) ?? changed;
          return when === 'later' ? Promise.resolve(result) : result;
        };
        return {
          script: scripts[point] ?? [call('a'), 'Done.'],
          tools,
          budget: { maxSteps: point === 'onStop' ? 1 : 5 },
          hooks: [{ [point]: late }, { [point]: () => void (when === 'later' && others.push(point)) }],
        };
      }, lost);
      expect([seen.length, others]).toEqual([1, []]);
      expect(state).toBe(seen[0]);
    },
  );

  test('before it starts, a lost run returns the same state', async () => {
    const state = told();
    const loop = createAgentLoop({ driver: scriptedDriver('Hi.') });
    expect(await loop.run(state, { signal: AbortSignal.abort(lost) })).toBe(state);
  });
});

describe('a run without a signal', () => {
  /** The signals that the driver, a hook and a tool of one run get. */
  async function signalsOf(): Promise<readonly AbortSignal[]> {
    const signals: AbortSignal[] = [];
    const answer: ScriptedAnswer = (_, { signal }) => (signals.push(signal), call('look'));
    const hook: Hook = { beforeStep: (_, { signal }) => void signals.push(signal) };
    const tool = does('look', (_, { signal }) => void signals.push(signal));
    await observe({ script: [answer, 'Hi.'], hooks: [hook], tools: [tool] });
    return signals;
  }

  test('creates its own signal, as Cloudflare Workers require', async () => {
    const [first, second] = [await signalsOf(), await signalsOf()];
    expect([first.length, new Set(first).size]).toEqual([4, 1]);
    expect([second.length, new Set([...first, ...second]).size]).toEqual([4, 2]);
  });

  test('never aborts, and adds no listener to its signal', async () => {
    for (const signal of await signalsOf()) {
      expect([signal.aborted, getEventListeners(signal, 'abort')]).toEqual([false, []]);
    }
  });
});

describe('signals and timeouts', () => {
  test('the caller’s signal has no listeners left after a run', async () => {
    const { signal } = new AbortController();
    const scripts: readonly (readonly ScriptedAnswer[])[] = [
      ['Hi.'],
      [call('a'), 'Hi.'],
      [new Error('down')],
    ];
    for (let count = 0; count < 1_000; count++) {
      const options: RunOptions = { signal };
      const made = { driver: scriptedDriver(...(scripts[count % 3] ?? [])), tools: [does('a')] };
      if (count % 2 === 0) await createAgentLoop(made).run(told(), options);
      else {
        const states = createAgentLoop(made).iterate(told(), options);
        await states.next();
        await states.return(undefined);
      }
      if (count % 10 === 0)
        await createAgentLoop({ driver: scriptedDriver('Hi.') }).stream(told(), options).result;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a tool’s signal aborts with the run, and at the tool’s timeout', async () => {
    const reasons: unknown[] = [];
    const slow = {
      ...does('slow', (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return never;
      }),
      timeoutSeconds: 0.001,
    };
    const { state } = await observe({ script: [call('slow'), 'Late.'], tools: [slow] });
    expect(reasons).toMatchObject([{ code: 'TOOL_TIMEOUT' }]);
    expect(state.errors).toMatchObject([{ code: 'TOOL_TIMEOUT' }]);
    expect([state.status, outcomesIn(state)]).toEqual(['completed', ['slow failed']]);
  });

  test.each([Infinity, 10_000_000])('a timeout of %d seconds does not fire early', async (timeoutSeconds) => {
    const tick = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { state } = await observe({
      script: [call('a'), 'Hi.'],
      tools: [{ ...does('a', tick), timeoutSeconds }],
    });
    expect(state.hasErrors).toBe(false);
  });

  test('the late rejection of an aborted tool has no effect', async () => {
    const { promise, reject } = deferred<never>();
    const { state } = await aborted((abort) => ({
      script: [call('late')],
      tools: [does('late', () => (abort(), promise))],
    }));
    reject(new HoldfastError('TOOL_FAILED', 'too late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([unhandled, outcomesIn(state)]).toEqual([[], ['late interrupted']]);
  });
});
