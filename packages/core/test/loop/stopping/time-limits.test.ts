import { AgentState, AgentStop, createAgentLoop, RunAbort } from '@holdfast/core';
import type { BudgetLimits, Clock, Hook, Instant } from '@holdfast/core';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import type { ManualClock, ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import type { Observation, Scenario } from '../../support/builders.ts';
import { call, does, driverOf, never, nextStart, observe, told } from '../../support/builders.ts';
import { deaf, honours, rejects, rejectsWith } from '../../support/cut-off.ts';

const HOUR = 3_600_000;

/** A clock that knows its timers. */
interface WatchedClock extends ManualClock {
  /** How many were set so far. */
  readonly set: number;
  /** How many of them have neither gone off nor been called off. */
  readonly pending: number;
}

function watchedClock(start: Instant): WatchedClock {
  const clock = manualClock(start);
  const pending = new Set<object>();
  let set = 0;
  return {
    ...clock,
    after(milliseconds, callback) {
      const timer = {};
      pending.add(timer);
      set++;
      const disarm = clock.after(milliseconds, () => {
        pending.delete(timer);
        callback();
      });
      return () => {
        pending.delete(timer);
        disarm();
      };
    },
    get set() {
      return set;
    },
    get pending() {
      return pending.size;
    },
  };
}

/** A scenario in which something calls `late`, and time is up. */
type Late = (late: () => void) => Scenario;

const limits: readonly (readonly [string, (start: Instant) => BudgetLimits])[] = [
  ['10 seconds of work', () => ({ maxSeconds: 10 })],
  ['a deadline', (start) => ({ deadline: start + 10_000 })],
];

async function outOfTime(scenario: Late, limit: (start: Instant) => BudgetLimits): Promise<Observation> {
  const start = nextStart();
  const clock = watchedClock(start);
  const made = scenario(() => clock.advance(10_000));
  const observation = await observe({ clock, budget: limit(start), ...made });
  expect(clock.pending).toBe(0);
  return observation;
}

const outcomes = (state: AgentState): string[] =>
  state.steps.flatMap((step) => step.toolExecutions.map(({ name, outcome }) => `${name} ${outcome?.type}`));
const roles = (state: AgentState): string => [...state.messages].map(({ role }) => role[0]).join('');
const answers =
  (late: () => void, answer: ScriptedAnswer): ScriptedAnswer =>
  () => {
    late();
    return answer;
  };
const tools = [does('a'), does('b')];

interface Row {
  readonly name: string;
  readonly scenario: Late;
  readonly roles: string;
  readonly calls: number;
  readonly outcomes?: readonly string[];
  /** What the model had said. */
  readonly text?: string;
}

describe('when time is up, what is in flight is cut off and what is finished is kept', () => {
  const rows: readonly Row[] = [
    {
      name: 'an inference that rejects',
      scenario: (late) => ({ script: [rejects(late)] }),
      roles: 'u',
      calls: 1,
    },
    {
      name: 'an inference that rejects with what had arrived',
      scenario: (late) => ({ script: [rejectsWith(late, { text: 'Half' })] }),
      roles: 'ua',
      text: 'Half',
      calls: 1,
    },
    {
      name: 'an inference that returns what had arrived',
      scenario: (late) => ({ script: [answers(late, { text: 'Half', finishReason: 'aborted' })] }),
      roles: 'ua',
      text: 'Half',
      calls: 1,
    },
    {
      name: 'an inference that ignores it: what it says is kept, what it asks for is not run',
      scenario: (late) => ({ script: [answers(late, call('a'))], tools }),
      roles: 'uat',
      calls: 1,
    },
    {
      name: 'an inference of the second step',
      scenario: (late) => ({ script: [call('a'), rejectsWith(late, { text: 'Half' })], tools }),
      roles: 'uata',
      text: 'Half',
      outcomes: ['a succeeded'],
      calls: 2,
    },
    {
      name: 'a tool that honours it',
      scenario: (late) => ({ script: [call('slow')], tools: [honours(late)] }),
      roles: 'uat',
      outcomes: ['slow interrupted'],
      calls: 1,
    },
    {
      name: 'a tool that never settles',
      scenario: (late) => ({ script: [call('slow')], tools: [deaf(late)] }),
      roles: 'uat',
      outcomes: ['slow interrupted'],
      calls: 1,
    },
    {
      name: 'a tool with more time of its own',
      scenario: (late) => ({ script: [call('slow')], tools: [{ ...deaf(late), timeoutSeconds: 60 }] }),
      roles: 'uat',
      outcomes: ['slow interrupted'],
      calls: 1,
    },
    {
      name: 'a tool, when a failed tool ends the run: it stops all the same',
      scenario: (late) => ({ script: [call('slow')], tools: [honours(late)], toolErrors: 'fail' }),
      roles: 'uat',
      outcomes: ['slow interrupted'],
      calls: 1,
    },
    {
      name: 'the last of three tools that run at once: the others are kept',
      scenario: (late) => ({
        script: [call('a', 'slow', 'b')],
        tools: [
          ...tools,
          does('slow', async () => {
            await new Promise(setImmediate);
            late();
            return never;
          }),
        ],
      }),
      roles: 'uat',
      outcomes: ['a succeeded', 'slow interrupted', 'b succeeded'],
      calls: 1,
    },
    {
      name: 'the second of three tools, one at a time: the first is kept, the third not begun',
      scenario: (late) => ({
        script: [call('a', 'slow', 'b')],
        tools: [...tools, deaf(late)],
        maxParallelTools: 1,
      }),
      roles: 'uat',
      outcomes: ['a succeeded', 'slow interrupted'],
      calls: 1,
    },
    {
      name: 'a pause between two tries of a tool: its failure stands',
      scenario: (late) => ({
        script: [call('flaky')],
        tools: [
          {
            ...does('flaky', () => {
              void new Promise(setImmediate).then(late);
              throw new Error('no luck');
            }),
            retry: { maxAttempts: 5, delaySeconds: 60 },
          },
        ],
        toolErrors: 'fail',
      }),
      roles: 'uat',
      outcomes: ['flaky failed'],
      calls: 1,
    },
    {
      name: 'beforeStep: no step is begun',
      scenario: (late) => ({ hooks: [{ beforeStep: late }] }),
      roles: 'u',
      calls: 0,
    },
    {
      name: 'beforeInference: nothing is paid for',
      scenario: (late) => ({ hooks: [{ beforeInference: late }] }),
      roles: 'u',
      calls: 0,
    },
    {
      name: 'afterInference: the call is not run',
      scenario: (late) => ({ script: [call('a')], tools, hooks: [{ afterInference: late }] }),
      roles: 'uat',
      calls: 1,
    },
    {
      name: 'beforeToolUse: the call is not run',
      scenario: (late) => ({ script: [call('a')], tools, hooks: [{ beforeToolUse: late }] }),
      roles: 'uat',
      calls: 1,
    },
    {
      name: 'afterToolUse: the next call is not run',
      scenario: (late) => ({
        script: [call('a', 'b')],
        tools,
        hooks: [{ afterToolUse: late }],
        maxParallelTools: 1,
      }),
      roles: 'uat',
      outcomes: ['a succeeded'],
      calls: 1,
    },
    {
      name: 'afterStep: there is no other step',
      scenario: (late) => ({ script: [call('a')], tools, hooks: [{ afterStep: late }] }),
      roles: 'uat',
      outcomes: ['a succeeded'],
      calls: 1,
    },
  ];
  const table = rows.flatMap((row) => limits.map(([limit, budget]) => ({ ...row, limit, budget })));

  test.each(table)('$name, by $limit', async ({ scenario, budget, ...row }) => {
    const { state, driver, trace } = await outOfTime(scenario, budget);
    expect([state.status, state.stopReason, state.execution?.continuation.signals.length]).toEqual([
      'stopped',
      'timeLimitReached',
      1,
    ]);
    expect(trace.filter((line) => line.startsWith('+signal'))).toEqual(['+signal timeLimitReached']);
    expect(trace.slice(-3)).toEqual(['onStop', 'afterExecution', '+stopped']);
    expect([roles(state), outcomes(state)]).toEqual([row.roles, row.outcomes ?? []]);
    expect([state.currentResponse ?? '', state.hasFinalResponse]).toEqual([row.text ?? '', false]);
    expect(driver.requests).toHaveLength(row.calls);
    const isOfTools = ({ code, message }: { code?: string; message: string }): boolean =>
      code === 'TOOL_INTERRUPTED' || message === 'no luck';
    expect(state.errors.filter((error) => !isOfTools(error))).toEqual([]);
  });

  test.each(limits)('half an answer is kept as aborted, with its usage, by %s', async (_, budget) => {
    const partial = { text: 'Half', usage: { inputTokens: 7, outputTokens: 3 } };
    const { state } = await outOfTime((late) => ({ script: [rejectsWith(late, partial)] }), budget);
    expect([state.lastStep?.response?.finishReason, state.usage.totalTokens]).toEqual(['aborted', 10]);
  });

  test.each(limits)('the driver and the tools learn why, by %s', async (_, budget) => {
    const reasons: unknown[] = [];
    await outOfTime(
      (late) => ({
        script: [call('slow')],
        tools: [
          does('slow', (__, { signal }) => {
            signal.addEventListener('abort', () => reasons.push(signal.reason));
            late();
          }),
        ],
      }),
      budget,
    );
    await outOfTime(
      (late) => ({
        driver: driverOf(async (__, { signal }) => {
          late();
          reasons.push(signal.reason);
          throw signal.reason;
        }),
      }),
      budget,
    );
    const reason = expect.objectContaining({ code: 'RUN_ABORTED', kind: 'cancel' });
    expect(reasons).toEqual([reason, reason]);
  });

  const wholes: readonly (readonly [string, Late])[] = [
    ['afterInference', (late) => ({ hooks: [{ afterInference: late }] })],
    ['afterStep', (late) => ({ hooks: [{ afterStep: late }] })],
  ];
  const answered = wholes.flatMap(([point, scenario]) =>
    limits.map(([limit, budget]) => ({ point, scenario, limit, budget })),
  );
  test.each(answered)(
    'an answer that has arrived in full stays one: $point, by $limit',
    async ({ scenario, budget }) => {
      const { state } = await outOfTime((late) => ({ script: ['Hi.'], ...scenario(late) }), budget);
      expect([state.status, state.finalResponse, state.stopSignal]).toEqual(['completed', 'Hi.', undefined]);
    },
  );
});

describe('a timer that is late, because code runs without a pause', () => {
  /** Timers never go off: whoever wants to begin something has to look at the clock. */
  const starved = (clock: ManualClock): Clock => ({ ...clock, after: () => () => undefined });
  const rows: readonly (readonly [string, Late, calls: number, outcomes: readonly string[]])[] = [
    ['a hook before the step', (late) => ({ hooks: [{ beforeStep: late }] }), 0, []],
    ['a hook before inference', (late) => ({ hooks: [{ beforeInference: late }] }), 0, []],
    ['the inference', (late) => ({ script: [answers(late, call('a'))], tools }), 1, []],
    [
      'the first of two tools',
      (late) => ({ script: [call('c', 'a')], tools: [does('c', late), ...tools], maxParallelTools: 1 }),
      1,
      ['c succeeded'],
    ],
  ];
  const table = rows.flatMap((row) => limits.map(([limit, budget]) => [row[0], limit, row, budget] as const));
  test.each(table)('in %s, by %s', async (_, __, [, scenario, calls, expected], budget) => {
    const start = nextStart();
    const clock = manualClock(start);
    const made = scenario(() => clock.advance(10_000));
    const { state, driver } = await observe({ clock: starved(clock), budget: budget(start), ...made });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'timeLimitReached']);
    expect([driver.requests.length, outcomes(state)]).toEqual([calls, expected]);
  });
});

describe('time that is not worked does not count', () => {
  /** Every step takes 4 seconds in the model and asks for a tool. */
  const steps = (clock: ManualClock): Pick<Scenario, 'driver' | 'tools'> => ({
    driver: driverOf(async (_, { signal }) => {
      clock.advance(4_000);
      if (signal.aborted) throw signal.reason;
      return { content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} }] };
    }),
    tools,
  });
  const budget = { maxSeconds: 10 };
  const stored = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
  const end = ({ status, stopReason, stepCount, execution }: AgentState): object => {
    const signals = execution?.continuation.signals.length;
    return { status, stopReason, stepCount, workedSeconds: execution?.workedSeconds, signals };
  };
  const cutInStepThree = {
    status: 'stopped',
    stopReason: 'timeLimitReached',
    stepCount: 3,
    workedSeconds: 12,
    signals: 1,
  };

  test('uninterrupted: the third step is cut off', async () => {
    const clock = manualClock(nextStart());
    const { state } = await observe({ clock, budget, ...steps(clock) });
    expect(end(state)).toEqual(cutInStepThree);
  });

  test('suspended for an hour by a hook, in the first step and in the second', async () => {
    const clock = manualClock(nextStart());
    const asked = new Set<number>();
    const suspends: Hook = {
      afterStep: (state) => {
        const { stepCount } = state;
        if (asked.has(stepCount) || stepCount > 2) return undefined;
        asked.add(stepCount);
        return state.withExecutionStatus('suspended', clock.now());
      },
    };
    const made = { clock, budget, ...steps(clock), hooks: [suspends] };
    let { state } = await observe(made);
    for (const worked of [4, 8]) {
      expect([state.status, state.execution?.workedSeconds]).toEqual(['suspended', worked]);
      clock.advance(HOUR);
      state = stored(state).withExecutionStatus('inProgress', clock.now());
      ({ state } = await observe({ ...made, state }));
    }
    expect(end(state)).toEqual(cutInStepThree);
    expect(state.executionDuration).toBe(12 + 7_200);
  });

  test('dead for an hour, after each step', async () => {
    const clock = manualClock(nextStart());
    let state = told();
    for (let life = 1; life <= 3; life++) {
      const controller = new AbortController();
      const dies: Hook = { afterStep: () => controller.abort(new RunAbort('yield')) };
      const run = { signal: controller.signal };
      ({ state } = await observe({
        clock,
        budget,
        ...steps(clock),
        state,
        hooks: life < 3 ? [dies] : [],
        run,
      }));
      clock.advance(HOUR);
      state = stored(state);
    }
    expect(end(state)).toEqual(cutInStepThree);
  });

  test('with a reader of the states who takes an hour over each', async () => {
    const clock = manualClock(nextStart());
    const made = { driver: scriptedDriver(), ...steps(clock) };
    const loop = createAgentLoop({ clock, budget, ...made });
    let last = told();
    for await (const state of loop.iterate(last)) {
      clock.advance(HOUR);
      last = state;
    }
    expect(end(last)).toEqual(cutInStepThree);
  });

  test('what hooks do does count, before the first step and after the last one too', async () => {
    const clock = manualClock(nextStart());
    const second = (): void => clock.advance(1_000);
    const hook: Hook = {
      beforeExecution: second,
      beforeStep: second,
      beforeInference: second,
      afterInference: second,
      beforeToolUse: second,
      afterToolUse: second,
      afterStep: second,
      onStop: second,
    };
    const { state } = await observe({
      clock,
      script: [call('a')],
      tools,
      budget: { maxSteps: 1 },
      hooks: [hook],
    });
    expect(state.execution?.workedSeconds).toBe(9);
  });

  test('a deadline does not wait', async () => {
    const clock = manualClock(nextStart());
    const suspends: Hook = { afterStep: (state) => state.withExecutionStatus('suspended', clock.now()) };
    const limit = { deadline: clock.now() + 10_000 };
    const first = await observe({ clock, budget: limit, ...steps(clock), hooks: [suspends] });
    clock.advance(HOUR);
    const state = stored(first.state).withExecutionStatus('inProgress', clock.now());
    const last = await observe({ clock, budget: limit, ...steps(clock), state });
    expect([last.state.stepCount, last.state.stopReason]).toEqual([1, 'timeLimitReached']);
  });
});

describe('a step that was left open, taken up when time is up', () => {
  const yielding = async (clock: ManualClock, scenario: Late): Promise<AgentState> => {
    const controller = new AbortController();
    const made = scenario(() => controller.abort(new RunAbort('yield')));
    const { state } = await observe({ clock, ...made, run: { signal: controller.signal } });
    expect([state.status, state.currentStep === undefined]).toEqual(['inProgress', false]);
    return state;
  };
  const rows: readonly (readonly [string, Late, outcomes: readonly string[]])[] = [
    ['before its inference', (leave) => ({ script: [rejects(leave)] }), []],
    ['before its tools', (leave) => ({ script: [answers(leave, call('a'))], tools }), []],
  ];
  test.each(rows)('%s: nothing is begun', async (_, scenario, expected) => {
    const clock = manualClock(nextStart());
    const state = await yielding(clock, scenario);
    const deadline = clock.now() + 1_000;
    clock.advance(HOUR);
    const last = await observe({ clock, state, tools, budget: { deadline } });
    expect([last.state.status, last.state.stopReason]).toEqual(['stopped', 'timeLimitReached']);
    expect([last.driver.requests.length, outcomes(last.state)]).toEqual([0, expected]);
    expect(last.state.execution?.continuation.signals).toHaveLength(1);
  });
});

describe('cut-offs and aborts together', () => {
  test('a run that yields lets its tools end, though it may be cut off', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', async (_, { signal }) => {
      controller.abort(new RunAbort('yield'));
      await new Promise(setImmediate);
      return signal.aborted ? 'aborted' : 'done';
    });
    const run = { signal: controller.signal };
    const { state } = await observe({
      clock,
      budget: { maxSeconds: 10 },
      script: [call('slow')],
      tools: [slow],
      run,
    });
    expect([state.status, state.lastStep?.toolExecutions[0]?.value]).toEqual(['inProgress', 'done']);
    expect([state.stopSignal, clock.pending]).toEqual([undefined, 0]);
  });

  test('a run that yields is cut off all the same', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', async () => {
      controller.abort(new RunAbort('yield'));
      await new Promise(setImmediate);
      clock.advance(10_000);
      return never;
    });
    const made = { clock, budget: { maxSeconds: 10 }, tools: [slow], run: { signal: controller.signal } };
    const { state } = await observe({ ...made, script: [call('slow')] });
    expect([state.stopReason, outcomes(state)]).toEqual(['timeLimitReached', ['slow interrupted']]);
    expect(state.execution?.continuation.signals).toHaveLength(1);
  });

  test('cancelled, then cut off: the one who cancelled is the reason', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', () => {
      controller.abort();
      clock.advance(10_000);
      return never;
    });
    const made = { clock, budget: { maxSeconds: 10 }, tools: [slow], run: { signal: controller.signal } };
    const { state } = await observe({ ...made, script: [call('slow')] });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
    expect(state.execution?.continuation.signals).toHaveLength(1);
  });

  test('lost, then cut off: nothing changes', async () => {
    const clock = watchedClock(nextStart());
    const controller = new AbortController();
    const slow = does('slow', () => {
      controller.abort(new RunAbort('lost'));
      clock.advance(10_000);
      return never;
    });
    const run = { signal: controller.signal };
    const { state } = await observe({
      clock,
      budget: { maxSeconds: 10 },
      script: [call('slow')],
      tools: [slow],
      run,
    });
    expect([state.status, state.stopSignal, clock.pending]).toEqual(['inProgress', undefined, 0]);
    expect(state.currentStep?.toolExecutions[0]?.isRunning).toBe(true);
  });

  const pairs: readonly (readonly [string, (start: Instant) => BudgetLimits, string])[] = [
    ['the limit of time', (start) => ({ maxSeconds: 5, deadline: start + 8_000 }), 'timeLimit'],
    ['the deadline', (start) => ({ maxSeconds: 8, deadline: start + 5_000 }), 'deadline'],
  ];
  test.each(pairs)('of two the earlier wins: %s', async (_, limit, source) => {
    const { state } = await outOfTime((late) => ({ script: [rejects(late)] }), limit);
    expect(state.execution?.continuation.signals.map((signal) => signal.source)).toEqual([source]);
  });

  test('a hook is told by its signal', async () => {
    const seen: boolean[] = [];
    const { state } = await outOfTime(
      (late) => ({
        hooks: [
          {
            beforeStep: (_, { signal }) => {
              late();
              seen.push(signal.aborted);
            },
          },
        ],
      }),
      () => ({ maxSeconds: 10 }),
    );
    expect([seen, state.stopReason]).toEqual([[true], 'timeLimitReached']);
  });
});

describe('timers', () => {
  const boom = (): never => {
    throw new Error('boom');
  };
  const stop = (): never => {
    throw new AgentStop('enough');
  };
  const rows: readonly (readonly [string, Scenario, steps: number])[] = [
    ['answers', { script: [call('a'), call('b'), 'Hi.'], tools }, 3],
    [
      'tools with time of their own',
      { script: [call('a'), 'Hi.'], tools: [{ ...does('a'), timeoutSeconds: 5 }] },
      2,
    ],
    ['a driver that fails', { script: [new Error('down')] }, 1],
    ['a hook that fails', { script: ['Hi.'], hooks: [{ beforeInference: boom }] }, 1],
    ['a hook that stops', { script: ['Hi.'], hooks: [{ beforeStep: stop }] }, 0],
    ['a tool that stops', { script: [call('a')], tools: [does('a', stop)] }, 1],
    [
      'a suspension',
      {
        script: [call('a')],
        tools,
        hooks: [{ afterInference: (_, { state }) => ({ state: state.withExecutionStatus('suspended') }) }],
      },
      0,
    ],
  ];
  test.each(rows)(
    'are called off at the end of each step: %s',
    async (_, { script = [], ...options }, steps) => {
      const clock = watchedClock(nextStart());
      const pending: number[] = [];
      const loop = createAgentLoop({
        driver: scriptedDriver(...script),
        ...options,
        clock,
        budget: { maxSeconds: 60, deadline: clock.now() + HOUR },
      });
      let last = told();
      for await (const state of loop.iterate(last)) {
        pending.push(clock.pending);
        last = state;
      }
      expect(last.steps).toHaveLength(steps);
      expect(pending).toEqual(pending.map(() => 0));
      expect(clock.set).toBeGreaterThan(0);
    },
  );

  test('of a clock for tests go off in order, each at its moment, and so do those that they set', () => {
    const clock = manualClock(1_000);
    const seen: string[] = [];
    const note = (name: string) => (): void => void seen.push(`${name} ${clock.now()}`);
    clock.after(20, note('b'));
    clock.after(10, () => {
      note('a')();
      clock.after(5, note('set by a'));
      clock.after(500, note('far'));
    });
    const callOff = clock.after(12, note('called off'));
    clock.after(0, note('at once'));
    callOff();
    clock.advance(100);
    expect([seen, clock.now()]).toEqual([['at once 1000', 'a 1010', 'set by a 1015', 'b 1020'], 1_100]);
  });

  test('are not set when nothing limits the time', async () => {
    const clock = watchedClock(nextStart());
    await observe({ clock, script: [call('a'), 'Hi.'], tools });
    expect(clock.set).toBe(0);
  });

  test('of a deadline that is further away than timers reach do not go off early', async () => {
    const DAY = 24 * HOUR;
    const clock = watchedClock(nextStart());
    const budget = { deadline: clock.now() + 60 * DAY };
    const seen: boolean[] = [];
    const patient = does('patient', (_, { signal }) => {
      for (const days of [25, 25, 9, 1]) {
        clock.advance(days * DAY);
        seen.push(signal.aborted);
      }
      return never;
    });
    const { state } = await observe({ clock, budget, script: [call('patient')], tools: [patient] });
    expect([state.stopReason, outcomes(state), clock.pending]).toEqual([
      'timeLimitReached',
      ['patient interrupted'],
      0,
    ]);
    expect(seen).toEqual([false, false, false, true]);
  });
});
