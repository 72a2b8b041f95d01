import {
  AgentState,
  AgentStep,
  AgentStop,
  createAgentLoop,
  tokenLimit,
  type Hook,
  type StopReason,
} from '@holdfast/core';
import { Continuation, type HookPoint } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { call, does, expectSound, nextStart, observe, POINTS, told } from '../../support/builders.ts';

/** The ways in which a hook changes a state so that it continues. */
const lifts: Readonly<Record<string, (state: AgentState, at: number) => AgentState>> = {
  'waits for input': (state, at) => state.withExecutionStatus('suspended', at),
  'waits for a child': (state, at) =>
    state.withExecutionStatus('suspended', at, [{ type: 'child', sessionId: 'child' as never }]),
  'waits for an instant': (state, at) =>
    state.withExecutionStatus('suspended', at, [{ type: 'until', until: at + 1 }]),
  'sets it back to pending': (state, at) => state.withExecutionStatus('pending', at),
  'requests another step': (state, at) => state.withContinuationRequested(at),
  'waits and requests another step': (state, at) =>
    state.withExecutionStatus('suspended', at).withContinuationRequested(at),
  'clears the continuation': (state, at) => withContinuation(state, Continuation.empty, at),
  'replaces the signals': (state, at) =>
    withContinuation(state, Continuation.empty.withSignal({ reason: 'completed', message: 'Done.' }), at),
  'clears the signals and requests another step': (state, at) =>
    withContinuation(state, Continuation.empty, at).withContinuationRequested(at),
  'overrides the signals by a step of its own': (state, at) =>
    state.currentStep || state.execution?.isTerminal ? state : state.withCurrentStep(AgentStep.create(), at),
  'marks the signals as overridden': (state, at) =>
    state.execution ? withContinuation(state, state.execution.continuation.withStepBegun(), at) : state,
  'completes it': (state, at) => state.withExecutionStatus('completed', at),
  'completes it without its signals': (state, at) =>
    withContinuation(state, Continuation.empty, at).withExecutionCompleted(at),
  'declares the response final': (state, at) =>
    state.withStopSignal({ reason: 'finishReasonReceived', message: 'Final.' }, at),
};

function withContinuation(state: AgentState, continuation: Continuation, at: number): AgentState {
  return state.execution ? state.withExecution(state.execution.withContinuation(continuation), at) : state;
}

/** A hook that lifts at a point, once the state has the stop or from the first call on. */
function lifting(point: HookPoint, lift: string, from: 'the stop' | 'the start', priority = 0): Hook {
  const lifted = ({ state, at }: { readonly state: AgentState; readonly at: number }) => {
    const isStopped = state.execution?.continuation.isStopped;
    return isStopped || from === 'the start' ? lifts[lift]?.(state, at) : undefined;
  };
  const isChange = ['beforeInference', 'afterInference', 'beforeToolUse', 'afterToolUse'].includes(point);
  return {
    priority,
    [point]: (
      _: unknown,
      { state, clock }: { readonly state: AgentState; readonly clock: { now(): number } },
    ) => {
      const changed = lifted({ state, at: clock.now() });
      return isChange ? changed && { state: changed } : changed;
    },
  };
}

/** The ways to stop an execution, and the reason with which it ends. */
interface Stop {
  readonly reason: StopReason;
  readonly hooks?: readonly Hook[];
  /** The tool stops the execution in its first call. */
  readonly tool?: (abort: AbortController) => void;
  /** The state was stopped before the run. */
  readonly before?: boolean;
}

const signal = { reason: 'stopRequested', message: 'Enough.' } as const;
const stops: Readonly<Record<string, Stop>> = {
  'a tool throws AgentStop': {
    reason: 'stopRequested',
    tool: () => {
      throw new AgentStop('Enough.');
    },
  },
  'the caller aborts during a tool': { reason: 'userRequested', tool: (abort) => abort.abort() },
  'a limit': { reason: 'tokenLimitReached', hooks: [tokenLimit(15)] },
  'a hook throws AgentStop': {
    reason: 'costLimitReached',
    hooks: [
      {
        priority: 1,
        afterInference() {
          throw new AgentStop({ reason: 'costLimitReached' });
        },
      },
    ],
  },
  'a hook returns a signal': {
    reason: 'stopRequested',
    hooks: [{ priority: 1, afterStep: (state, { clock }) => state.withStopSignal(signal, clock.now()) }],
  },
  'a signal before the run': { reason: 'stopRequested', before: true },
};

async function stopped({ tool, hooks = [], before }: Stop, lifters: readonly Hook[]): Promise<AgentState> {
  const abort = new AbortController();
  const start = told();
  const loop = createAgentLoop({
    clock: steppedClock(nextStart()),
    driver: scriptedDriver(...Array.from({ length: 4 }, () => call('work', 'work'))),
    tools: [does('work', () => tool?.(abort))],
    hooks: [...hooks, ...lifters],
  });
  return loop.run(before ? start.withStopSignal(signal, 3) : start, { signal: abort.signal });
}

describe('a stop is final', () => {
  const points = POINTS.filter((point) => point !== 'onError');
  const table = Object.entries(stops).flatMap(([by, stop]) =>
    Object.keys(lifts).map((lift) => ({ by, stop, lift })),
  );
  test.each(table)('$by: a hook that $lift, at any point', async ({ stop, lift }) => {
    for (const point of points) {
      const state = await stopped(stop, [lifting(point, lift, 'the stop')]);
      expect([point, state.status, state.stopReason]).toEqual([point, 'stopped', stop.reason]);
    }
  });

  test('whatever hooks return at any points, the execution ends stopped, with its reason', async () => {
    const lifter = fc
      .tuple(fc.constantFrom(...points), fc.constantFrom(...Object.keys(lifts)), fc.constantFrom(-1, 0, 2))
      .map(([point, lift, priority]) => lifting(point, lift, 'the stop', priority));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(stops)),
        fc.array(lifter, { minLength: 1, maxLength: 5 }),
        async (stop, lifters) => {
          const state = await stopped(stop, lifters);
          expect([state.status, state.stopReason]).toEqual(['stopped', stop.reason]);
        },
      ),
      cases(60),
    );
  });

  test('a hook sees it', async () => {
    const seen: unknown[] = [];
    const looks: Hook = { afterStep: ({ execution }) => void seen.push(execution?.continuation.isStopped) };
    await stopped({ reason: 'userRequested', tool: (abort) => abort.abort() }, [looks]);
    expect(seen).toEqual([true]);
  });

  test('after the end: the hook cannot choose another end', async () => {
    const ends: Hook = {
      afterExecution: (state, { clock }) => state.withExecutionStatus('completed', clock.now()),
    };
    expect((await stopped({ reason: 'stopRequested', before: true }, [ends])).status).toBe('stopped');
  });

  test('and a hook that fails the execution adds its error, and continues nothing', async () => {
    const fails: Hook = {
      afterStep: (state, { clock }) => state.withFailure(new Error('Broken.'), clock.now()),
    };
    const state = await stopped({ reason: 'userRequested', tool: (abort) => abort.abort() }, [fails]);
    expect([state.status, state.stopReason, state.stepCount]).toEqual(['failed', 'userRequested', 1]);
  });

  test('a hook that returns an earlier version of the state does not remove it', async () => {
    let earlier: AgentState | undefined;
    const remembers: Hook = { priority: 2, afterStep: (state) => void (earlier = state) };
    const raises: Hook = {
      priority: 1,
      afterStep: (state, { clock }) => state.withStopSignal(signal, clock.now()),
    };
    const returns: Hook = { afterStep: () => earlier };
    const state = await stopped({ reason: 'stopRequested' }, [remembers, raises, returns]);
    expect([state.status, state.stopReason, state.stepCount]).toEqual(['stopped', 'stopRequested', 1]);
  });

  test.each(['suspended', 'pending'] as const)(
    'an abort while a hook sets the execution %s ends it',
    async (status) => {
      for (const point of ['afterToolUse', 'afterStep'] as const) {
        const abort = new AbortController();
        const sets: Hook = {
          [point]: (_: unknown, { state, clock }: { state: AgentState; clock: { now(): number } }) => {
            abort.abort();
            const set = state.withExecutionStatus(status, clock.now());
            return point === 'afterStep' ? set : { state: set };
          },
        };
        const { state } = await observe({
          script: [call('work')],
          tools: [does('work')],
          hooks: [sets],
          run: { signal: abort.signal },
        });
        expect([point, state.status, state.stopReason]).toEqual([point, 'stopped', 'userRequested']);
      }
    },
  );

  test('a stored state that waits although it was stopped ends as soon as it is run', async () => {
    const stuck = told().withExecutionStatus('suspended', 3).withStopSignal(signal, 4);
    const loop = createAgentLoop({ driver: scriptedDriver(), clock: manualClock(5) });
    const state = expectSound(await loop.run(AgentState.fromJSON(JSON.parse(JSON.stringify(stuck)))));
    expect([state.status, state.stopReason]).toEqual(['stopped', 'stopRequested']);
  });

  test('also when an earlier stop of the same source was overridden by a request of the application', async () => {
    const abort = new AbortController();
    const lifter = lifting('afterStep', 'waits for input', 'the start');
    const stop = { reason: 'userRequested', message: 'The first stop.', source: 'abort' } as const;
    const { state } = await observe({
      state: told().withStopSignal(stop, 3).withContinuationRequested(4),
      script: [call('work')],
      tools: [does('work', () => abort.abort())],
      hooks: [lifter],
      run: { signal: abort.signal },
    });
    expect([state.status, state.stopReason]).toEqual(['stopped', 'userRequested']);
  });

  test('but a hook may continue after a signal that is not forced, and after a request of the application', async () => {
    const insists: Hook = {
      afterStep: (state, { clock }) =>
        state.stepCount > 1
          ? undefined
          : state
              .withStopSignal({ reason: 'finishReasonReceived', message: 'x' }, clock.now())
              .withContinuationRequested(clock.now()),
    };
    expect((await observe({ script: ['One.', 'Two.'], hooks: [insists] })).state.stepCount).toBe(2);
    const overridden = told().withStopSignal(signal, 3).withContinuationRequested(4);
    const keeps: Hook = { beforeExecution: (state, { clock }) => state.withMetadata('a', 1, clock.now()) };
    const { state } = await observe({ state: overridden, script: ['Hi.'], hooks: [keeps] });
    expect(state.stepCount).toBe(1);
  });
});
