import {
  AgentState,
  createAgentLoop,
  deadline,
  MemorySessionStore,
  retry,
  RunAbort,
  sendMessage,
  SessionRuntime,
  stepsLimit,
  subagent,
  Usage,
  type AgentLoopOptions,
  type BudgetLimits,
  type Hook,
  type RunOptions,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { guardsFor } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, does, expectSound, readBack } from '../../support/builders.ts';
import { settled } from '../../support/durable-world.ts';

const START = 1_000;
const billed = { inputTokens: 60, outputTokens: 0, cost: 1 };
const overloaded = new DriverError('overloaded', 'The provider is overloaded.', { usage: billed });
const later = new DriverError('rateLimited', 'Later.', { retryAfterSeconds: 120, usage: billed });
const wrongKey = new DriverError('authentication', 'The key is not valid.', { usage: billed });
const prices = { own: { input: 0, output: 0 }, other: { input: 0, output: 0 } };
const question = AgentState.empty({ at: 0 })
  .withLlmConfig({ model: 'own' }, 0)
  .withUserMessage('How are you?', undefined, 0);

/** How a run receives a limit. */
interface Limit {
  readonly options?: Partial<AgentLoopOptions>;
  readonly run?: RunOptions;
}

/** Options in which the last of two steps may have begun when the call fails: two steps in all. */
const stepLimits: Readonly<Record<string, Limit>> = {
  'budget of the loop': { options: { budget: { maxSteps: 2 } } },
  'budget of the run': { run: { budget: { maxSteps: 2 } } },
  'stepsLimit()': { options: { hooks: [stepsLimit(2)] } },
  'guardsFor()': { options: { hooks: guardsFor({ maxSteps: 2 }) } },
  'a guard of the application': {
    options: {
      hooks: [
        {
          checkLimit: async ({ stepCount }) =>
            stepCount >= 2 ? { reason: 'stepsLimitReached', message: 'Two steps.' } : undefined,
        },
      ],
    },
  },
};

/** A clock, and a run on it that moves the clock for as long as the run waits. */
function runnerOf(
  script: readonly ScriptedAnswer[],
  { options, run = {} }: Limit,
  more: Partial<AgentLoopOptions>,
) {
  const clock = manualClock(START);
  const driver = scriptedDriver(...script);
  const hooks = [...(options?.hooks ?? []), ...(more.hooks ?? [])];
  const inferenceRetry = { maxPauseSeconds: 3_600 };
  const known = { driver, clock, prices, inferenceRetry, tools: [does('look')] };
  const loop = createAgentLoop({ ...known, ...options, ...more, hooks });
  const toEnd = async (state: AgentState): Promise<AgentState> => {
    const progress = { isOver: false };
    const done = loop.run(state, run).finally(() => (progress.isOver = true));
    for (await settled(); !progress.isOver; await settled()) clock.advance(1_000);
    return expectSound(await done);
  };
  return { clock, driver, loop, run: toEnd };
}

const spends: Hook = {
  beforeInference: (_, { state, clock }) => ({
    state: state.withOtherUsage(Usage.of({ inputTokens: 1, outputTokens: 0 }), clock.now()),
  }),
};
const asksLimits: Hook = {
  async beforeInference(_, { state, checkLimits }) {
    expect(await checkLimits(state)).toBeUndefined();
  },
};

/** The events of the last step that the limit allows, as the answers after the first step. */
const events: Readonly<
  Record<string, { readonly script: readonly ScriptedAnswer[]; readonly more?: Partial<AgentLoopOptions> }>
> = {
  'a failed call': { script: [overloaded, 'Fine.'] },
  'five failed calls': { script: [...Array.from({ length: 5 }, () => overloaded), 'Fine.'] },
  'a fallback': { script: [overloaded, 'Fine.'], more: { fallback: ['other'] } },
  'a hook that spends': { script: ['Fine.'], more: { hooks: [spends] } },
  'a hook that spends before a repetition': { script: [overloaded, 'Fine.'], more: { hooks: [spends] } },
  'a hook that checks limits': { script: ['Fine.'], more: { hooks: [asksLimits] } },
};

describe('a step limit does not stop the open step', () => {
  const table = Object.entries(stepLimits).flatMap(([by, limit]) =>
    Object.entries(events).map(([what, event]) => ({ by, limit, what, ...event })),
  );
  test.each(table)('of $by: $what', async ({ limit, script, more = {} }) => {
    const { run, driver } = runnerOf([call('look'), ...script], limit, more);
    const state = await run(question);
    expect([state.status, state.stepCount, state.finalResponse]).toEqual(['completed', 2, 'Fine.']);
    driver.assertComplete();
  });

  test.each(Object.entries(stepLimits))('of %s, but the step after it', async (_, limit) => {
    const { run, driver } = runnerOf([call('look'), overloaded, call('look')], limit, {});
    const state = await run(question);
    expect([state.status, state.stopReason, state.stepCount]).toEqual(['stopped', 'stepsLimitReached', 2]);
    driver.assertComplete();
  });

  test('of a parent: the subagent repeats its call in its last step', async () => {
    const inner = scriptedDriver(overloaded, 'Found.');
    const search = subagent({
      name: 'search',
      description: 'Searches.',
      loop: createAgentLoop({
        driver: inner,
        inferenceRetry: { initialDelaySeconds: 0.001, maxDelaySeconds: 0.001 },
      }),
    });
    const outer = scriptedDriver({ calls: { search: { prompt: 'Go.' } } }, 'Fine.');
    const state = await createAgentLoop({ driver: outer, tools: [search], budget: { maxSteps: 2 } }).run(
      question,
    );
    expect(state.steps[0]?.toolExecutions[0]?.value).toBe('Found.');
    expect(state.finalResponse).toBe('Fine.');
  });

  test('when the run resumes after a crash, before and after a repetition', async () => {
    for (const script of [['Fine.'], [overloaded, 'Fine.']]) {
      const crashing = new AbortController();
      const dies: ScriptedAnswer = () => {
        crashing.abort(new RunAbort('yield'));
        throw new Error('The connection was closed.');
      };
      const options = { budget: { maxSteps: 1 }, inferenceRetry: { initialDelaySeconds: 0.001 } };
      const first = createAgentLoop({ driver: scriptedDriver(overloaded, dies), ...options });
      const open = await first.run(question, { signal: crashing.signal });
      expect([open.status, open.currentStep?.inferenceFailures.length]).toEqual(['inProgress', 1]);
      const second = createAgentLoop({ driver: scriptedDriver(...script), ...options });
      expect((await second.run(readBack(open))).finalResponse).toBe('Fine.');
    }
  });
});

describe('in a session, the last step that a limit allows is repeated', () => {
  async function sessionOf(script: readonly ScriptedAnswer[], budget: BudgetLimits = { maxSteps: 1 }) {
    const clock = manualClock(START);
    const store = new MemorySessionStore({ clock });
    const driver = scriptedDriver(...script);
    const process = () =>
      new SessionRuntime({ store, clock, agents: { a: createAgentLoop({ driver, clock, budget, prices }) } });
    const { sessionId } = await process().create({ definition: { name: 'a', llmConfig: { model: 'own' } } });
    return { clock, process, sessionId };
  }

  test('by another process, after a wait', async () => {
    const { clock, process, sessionId } = await sessionOf([later, later, 'Fine.']);
    expect((await process().execute(sessionId, sendMessage('Hello'))).state.status).toBe('suspended');
    for (let wait = 0; wait < 2; wait++) {
      clock.advance(120_000);
      await process().advance(sessionId);
    }
    expect((await process().get(sessionId)).state.finalResponse).toBe('Fine.');
  });

  test('by retry(), as an action and as an inbox item', async () => {
    const { process, sessionId } = await sessionOf([wrongKey, wrongKey, 'Fine.']);
    await process().execute(sessionId, sendMessage('Hello'));
    expect((await process().execute(sessionId, retry())).state.status).toBe('suspended');
    await process().enqueue(sessionId, { type: 'retry' });
    await process().advance(sessionId);
    expect((await process().get(sessionId)).state.finalResponse).toBe('Fine.');
  });

  const spent: readonly (readonly [string, BudgetLimits])[] = [
    ['tokenLimitReached', { maxTokens: 50 }],
    ['costLimitReached', { maxCost: 1 }],
    ['timeLimitReached', { deadline: START + 60_000 }],
  ];
  test.each(spent)('unless the failed call used up another limit: %s', async (reason, budget) => {
    for (const failure of [later, wrongKey]) {
      const { clock, process, sessionId } = await sessionOf([failure, 'Never.'], budget);
      await process().execute(sessionId, sendMessage('Hello'));
      clock.advance(120_000);
      const { state } = await process().execute(sessionId, retry());
      expect([state.status, state.stopReason]).toEqual(['stopped', reason]);
    }
  });
});

describe('the other limits are checked before each call of an open step', () => {
  const limits: readonly (readonly [string, Limit])[] = [
    ['tokenLimitReached', { options: { budget: { maxTokens: 50 } } }],
    ['costLimitReached', { options: { budget: { maxCost: 1 } } }],
    ['timeLimitReached', { options: { hooks: [deadline(START + 500)] } }],
    ['timeLimitReached', { options: { budget: { maxSeconds: 0.5 } } }],
  ];
  test.each(limits)('%s stops before a repetition', async (reason, limit) => {
    const { run, driver } = runnerOf([overloaded, 'Never.'], limit, {});
    const state = await run(question);
    expect([state.status, state.stopReason, driver.requests.length]).toEqual(['stopped', reason, 1]);
  });

  test('a process that resumes an open step checks them before its first call', async () => {
    const leaving = new AbortController();
    const leaves: Hook = { beforeInference: () => leaving.abort(new RunAbort('yield')) };
    const first = createAgentLoop({ driver: scriptedDriver(), hooks: [leaves] });
    const open = await first.run(question, { signal: leaving.signal });
    expect(open.currentStep?.response).toBeUndefined();
    const driver = scriptedDriver('Never.');
    const second = createAgentLoop({ driver, budget: { deadline: START, maxSteps: 1 } });
    expect((await second.run(readBack(open))).stopReason).toBe('timeLimitReached');
    expect(driver.requests).toHaveLength(0);
  });

  test('a guard is called once for the first call of a step', async () => {
    let checks = 0;
    const hooks: readonly Hook[] = [{ checkLimit: () => void checks++ }];
    const { run } = runnerOf([call('look'), overloaded, 'Fine.'], { options: { hooks } }, {});
    await run(question);
    expect(checks).toBe(3);
  });
});
