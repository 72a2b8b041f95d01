import { RunAbort, type AgentState } from '@holdfast/core';
import { manualClock, type ManualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, does, driverOf, HOUR, never, nextStart, observe } from '../../support/builders.ts';
import { CUT_OFF_RUNS, deaf, rejects, rejectsWith, type CutOffRun } from '../../support/cut-off.ts';
import { outcomesIn } from '../../support/tool-runs.ts';
import { answers, outOfTime, timeLimits, type Late } from '../../support/late-runs.ts';
const roles = (state: AgentState): string => [...state.messages].map(({ role }) => role[0]).join('');
const tools = [does('a'), does('b')];

describe('at a time limit, work in flight is aborted and completed work is recorded', () => {
  const rows: readonly CutOffRun[] = [
    ...CUT_OFF_RUNS,
    {
      name: 'in an inference of the second step',
      scenario: (late) => ({ script: [call('a'), rejectsWith(late, { text: 'Half' })], tools }),
      roles: 'uata',
      text: 'Half',
      outcomes: ['a succeeded'],
      calls: 2,
    },
    {
      name: 'in a tool with more time of its own',
      scenario: (late) => ({ script: [call('slow')], tools: [{ ...deaf(late), timeoutSeconds: 60 }] }),
      roles: 'uat',
      outcomes: ['slow interrupted'],
      calls: 1,
    },
    {
      name: 'in the last of three parallel tools: the results of the others are recorded',
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
      name: 'in a pause between two attempts of a tool: its failure stays',
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
      name: 'in afterToolUse: the next call is not run',
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
  ];
  const table = rows.flatMap((row) => timeLimits.map(([limit, budget]) => ({ ...row, limit, budget })));

  test.each(table)('$name, by $limit', async ({ scenario, budget, ...row }) => {
    const { state, driver, trace } = await outOfTime(scenario, budget);
    expect([state.status, state.stopReason, state.execution?.continuation.signals.length]).toEqual([
      'stopped',
      'timeLimitReached',
      1,
    ]);
    expect(trace.filter((line) => line.startsWith('+signal'))).toEqual(['+signal timeLimitReached']);
    expect(trace.slice(-3)).toEqual(['onStop', 'afterExecution', '+stopped']);
    expect([roles(state), outcomesIn(state)]).toEqual([row.roles, row.outcomes ?? []]);
    expect([state.currentResponse ?? '', state.hasFinalResponse]).toEqual([row.text ?? '', false]);
    expect(driver.requests).toHaveLength(row.calls);
    const isOfTools = ({ code, message }: { code?: string; message: string }): boolean =>
      code === 'TOOL_INTERRUPTED' || message === 'no luck';
    expect(state.errors.filter((error) => !isOfTools(error))).toEqual([]);
  });

  test.each(timeLimits)(
    'half a response is recorded as aborted, with its usage, by %s',
    async (_, budget) => {
      const partial = { text: 'Half', usage: { inputTokens: 7, outputTokens: 3 } };
      const { state } = await outOfTime((late) => ({ script: [rejectsWith(late, partial)] }), budget);
      expect([state.lastStep?.response?.finishReason, state.usage.totalTokens]).toEqual(['aborted', 10]);
    },
  );

  test.each(timeLimits)('the driver and the tools receive the reason, by %s', async (_, budget) => {
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
    timeLimits.map(([limit, budget]) => ({ point, scenario, limit, budget })),
  );
  test.each(answered)(
    'a complete response stays a final response: $point, by $limit',
    async ({ scenario, budget }) => {
      const { state } = await outOfTime((late) => ({ script: ['Hi.'], ...scenario(late) }), budget);
      expect([state.status, state.finalResponse, state.stopSignal]).toEqual(['completed', 'Hi.', undefined]);
    },
  );
});

describe('an open step that is resumed after the time limit', () => {
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
  test.each(rows)('%s: no work starts', async (_, scenario, expected) => {
    const clock = manualClock(nextStart());
    const state = await yielding(clock, scenario);
    const deadline = clock.now() + 1_000;
    clock.advance(HOUR);
    const last = await observe({ clock, state, tools, budget: { deadline } });
    expect([last.state.status, last.state.stopReason]).toEqual(['stopped', 'timeLimitReached']);
    expect([last.driver.requests.length, outcomesIn(last.state)]).toEqual([0, expected]);
    expect(last.state.execution?.continuation.signals).toHaveLength(1);
  });
});
