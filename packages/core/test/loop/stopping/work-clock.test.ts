import { systemClock, type AgentState, type BudgetLimits, type Tool } from '@holdfast/core';
import { manualClock } from '@holdfast/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WorkClock } from '../../../src/loop/stopping/work-clock.ts';
import { call, does, driverOf, HOUR, never, nextStart, observe, told } from '../../support/builders.ts';
import { sleepyMachine, type SleepyMachine } from '../../support/sleepy-machine.ts';
import { outcomesIn } from '../../support/tool-runs.ts';

afterEach(() => void vi.restoreAllMocks());

const clock = systemClock;

/** A tool that works for some seconds, and during whose work the machine sleeps for an hour. */
const sleeps = (machine: SleepyMachine, seconds: number): Tool =>
  does('a', async () => {
    machine.advance(3_000);
    machine.sleep(HOUR);
    machine.advance((seconds - 3) * 1_000);
    return 'done';
  });

/** Runs an agent whose tool works for some seconds besides the sleep, and returns the result of the run. */
async function slept(
  machine: SleepyMachine,
  seconds: number,
  budget: BudgetLimits,
  options: Partial<Tool> = {},
): Promise<AgentState> {
  const tools = [{ ...sleeps(machine, seconds), ...options }];
  const { state } = await observe({ clock, budget, script: [call('a'), 'Done.'], tools, state: told() });
  return state;
}

describe.each(['stand still', 'run on'] as const)('an hour of sleep, in which timers %s', (timersAsleep) => {
  /** True when the timers notice the sleep as the machine wakes, and not in time. */
  const noticed = timersAsleep === 'run on';
  const machineOf = (): SleepyMachine => sleepyMachine(timersAsleep);

  test('uses up at most the ten seconds before it is noticed', async () => {
    const state = await slept(machineOf(), 30, { maxSeconds: 60 });
    expect([state.status, state.finalResponse]).toEqual(['completed', 'Done.']);
    expect([state.execution?.workedSeconds, state.executionDuration]).toEqual([noticed ? 37 : 30, 3_630]);
  });

  test('is no work of an inference', async () => {
    const machine = machineOf();
    const driver = driverOf(async () => {
      machine.advance(3_000);
      machine.sleep(HOUR);
      return { text: 'Done.' };
    });
    const { state } = await observe({ clock, budget: { maxSeconds: 20 }, driver });
    expect([state.status, state.execution?.workedSeconds]).toEqual(['completed', 10]);
  });

  test('leaves the rest of a limit of work', async () => {
    const state = await slept(machineOf(), 80, { maxSeconds: 60 });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'timeLimitReached']);
    expect(outcomesIn(state)).toEqual(['a interrupted']);
  });

  test('leaves the rest of the timeout of a tool', async () => {
    const inTime = await slept(machineOf(), 50, {}, { timeoutSeconds: 60 });
    expect(outcomesIn(inTime)).toEqual(['a succeeded']);
    vi.restoreAllMocks();
    const machine = machineOf();
    const hangs = does('a', () => {
      machine.advance(3_000);
      machine.sleep(HOUR);
      machine.advance(60_000);
      return never;
    });
    const script = [call('a'), 'Done.'];
    const late = await observe({ clock, script, tools: [{ ...hangs, timeoutSeconds: 60 }] });
    expect(late.state.steps[0]?.toolExecutions[0]?.error?.code).toBe('TOOL_TIMEOUT');
  });

  test('passes a deadline, also one beside a limit of work', async () => {
    const machine = machineOf();
    const state = await slept(machine, 30, { maxSeconds: 600, deadline: Date.now() + 60_000 });
    expect([state.status, state.stopSignal?.source]).toEqual(['stopped', 'deadline']);
  });

  test('is left out of each step, and no timer stays', async () => {
    const machine = machineOf();
    const script = [call('a'), call('a'), 'Done.'];
    const tools = [sleeps(machine, 20)];
    const { state } = await observe({ clock, budget: { maxSeconds: 60 }, script, tools });
    expect([state.status, state.execution?.workedSeconds]).toEqual(['completed', noticed ? 57 : 40]);
    expect(machine.pending).toBe(0);
  });

  test('is no work in a hook before the first step, whose result counts', async () => {
    const machine = machineOf();
    const beforeExecution = async (given: AgentState): Promise<AgentState> => {
      await new Promise(setImmediate);
      machine.advance(3_000);
      machine.sleep(HOUR);
      return given.withMetadata('seen', true);
    };
    const budget = { maxSeconds: 60 };
    const { state } = await observe({ clock, budget, script: ['Done.'], hooks: [{ beforeExecution }] });
    expect([state.status, state.execution?.workedSeconds]).toEqual(['completed', 10]);
    expect(state.metadata.get('seen')).toBe(true);
  });
});

describe('the time of work', () => {
  test('includes a delay of thirty seconds, and time in which timers fire', () => {
    const machine = sleepyMachine('stand still');
    const work = new WorkClock(clock);
    work.start();
    machine.advance(HOUR);
    machine.sleep(30_000);
    expect(work.slept()).toBe(0);
    machine.advance(10_000);
    machine.sleep(60_000);
    work.stop();
    expect(work.slept()).toBe(50_000);
    machine.sleep(HOUR);
    expect([work.slept(), machine.pending]).toEqual([50_000, 0]);
  });

  test('includes a block of the event loop', async () => {
    const machine = sleepyMachine('run on');
    const work = new WorkClock(clock);
    work.start();
    machine.block(HOUR);
    expect(work.slept()).toBe(0);
    work.stop();
    const blocks = does('a', () => machine.block(90_000));
    const budget = { maxSeconds: 60 };
    const { state } = await observe({ clock, budget, script: [call('a')], tools: [blocks] });
    expect([state.stopReason, state.execution?.workedSeconds]).toEqual(['timeLimitReached', 90]);
  });

  test('is what a clock with timers of its own says', async () => {
    const machine = sleepyMachine('run on');
    const manual = manualClock(nextStart());
    const tools = [
      does('a', () => {
        machine.sleep(HOUR);
        manual.advance(HOUR);
      }),
    ];
    const { state } = await observe({ clock: manual, script: [call('a'), 'Done.'], tools });
    expect([state.execution?.workedSeconds, machine.pending]).toEqual([3_600, 0]);
  });
});
