import { AgentState, createAgentLoop, RunAbort, type Hook } from '@holdfast/core';
import { manualClock, scriptedDriver, type ManualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  does,
  driverOf,
  HOUR,
  nextStart,
  observe,
  told,
  type Scenario,
} from '../../support/builders.ts';
const tools = [does('a'), does('b')];

describe('time without work does not count', () => {
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

  test('uninterrupted: the third step is aborted', async () => {
    const clock = manualClock(nextStart());
    const { state } = await observe({ clock, budget, ...steps(clock) });
    expect(end(state)).toEqual(cutInStepThree);
  });

  test('during an hour of suspension by a hook, in the first step and in the second', async () => {
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

  test('during an hour without a process, after each step', async () => {
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

  test('during an hour that a reader takes for each state', async () => {
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

  test('the time of hooks counts, also before the first step and after the last', async () => {
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

  test('a deadline does not pause', async () => {
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
