import {
  createAgentLoop,
  RunAbort,
  structuredOutput,
  subagent,
  tool,
  Usage,
  type AgentLoopOptions,
  type AgentState,
  type Clock,
  type Hook,
  type RunOptions,
} from '@holdfast/core';
import { DriverError, InferenceResponse, type StandardSchema } from '@holdfast/core/driver';
import type { AbortKind, HookPoint } from '@holdfast/core/engine';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test, vi } from 'vitest';
import {
  call,
  does,
  driverOf,
  expectSound,
  never,
  observe,
  POINTS,
  scriptedLoop,
  told,
} from '../../support/builders.ts';
const GRACE_SECONDS = 5;
const START = 1_000_000;

/** A clock that goes on to its next time-out whenever nothing else is left to happen. */
function idleClock(): Clock {
  const clock = manualClock(START);
  return {
    ...clock,
    after(milliseconds, callback) {
      const due = clock.now() + milliseconds;
      const disarm = clock.after(milliseconds, callback);
      setImmediate(() => clock.advance(due - clock.now()));
      return disarm;
    },
  };
}

/** A loop with something in it that calls `begun` and then never settles. */
type Hangs = (
  begun: () => void,
) => Partial<AgentLoopOptions> & { readonly script?: readonly ScriptedAnswer[] };

interface Ended {
  readonly state: AgentState;
  readonly seconds: number;
}

async function ended(hangs: Hangs, begun: () => void, run: RunOptions = {}): Promise<Ended> {
  const clock = idleClock();
  const { script = [call('a'), 'Done.'], ...options } = hangs(begun);
  const driver = scriptedDriver(...script);
  const loop = createAgentLoop({ clock, tools: [does('a')], driver, ...options });
  const state = expectSound(await loop.run(told('Go', clock), run));
  return { state, seconds: (clock.now() - START) / 1_000 };
}

const hook =
  (point: HookPoint): Hangs =>
  (begun) => ({
    hooks: [{ [point]: () => (begun(), never) }],
    ...(point === 'onError' && { script: [new Error('down')] }),
    ...(point === 'onContextTooLong' && {
      script: [new DriverError('contextTooLong', 'Too long.'), 'Done.'],
    }),
    ...(point === 'onStop' && { budget: { maxSteps: 1 } }),
  });

const checked = (begun: () => void): ReturnType<typeof structuredOutput> => {
  const schema: StandardSchema = {
    '~standard': { version: 1, vendor: 'test', validate: () => (begun(), never) },
  };
  return structuredOutput(schema, { jsonSchema: { type: 'object' } });
};

/** A call of an agent that answers at once. */
const asks =
  (init: (begun: () => void) => object): Hangs =>
  (begun) => {
    const loop = scriptedLoop(['{}']);
    const helper = subagent({ name: 'helper', description: 'Helps.', loop, ...init(begun) });
    return { tools: [helper], script: [{ calls: { helper: { prompt: 'Go' } } }, 'Done.'] };
  };

const spends: Hook = {
  beforeStep: (state, { clock }) => state.withOtherUsage(Usage.unreported, clock.now()),
};

type Status = AgentState['status'];

interface Row {
  readonly name: string;
  readonly hangs: Hangs;
  /** Seconds for which it is waited; default 5. */
  readonly grace?: number;
  /** What a cancelled run comes to, also one whose time is up; default `stopped`. */
  readonly stopped?: Status;
  /** What one comes to that yields, also one that is lost; default `inProgress`. */
  readonly left?: Status;
}

const rows: readonly Row[] = [
  ...POINTS.map((point): Row => {
    const row = { name: point, hangs: hook(point) };
    if (point === 'afterExecution') return { ...row, stopped: 'completed', left: 'completed' };
    return point === 'onError' ? { ...row, stopped: 'failed' } : row;
  }),
  { name: 'a driver', hangs: (begun) => ({ driver: driverOf(async () => (begun(), never)) }) },
  { name: 'a limit', hangs: (begun) => ({ hooks: [{ checkLimit: () => (begun(), never) }] }) },
  {
    name: 'a limit that is checked again',
    hangs(begun) {
      let isAsked = false;
      const checkLimit = () => (isAsked ? (begun(), never) : void (isAsked = true));
      return { hooks: [spends, { checkLimit }] };
    },
  },
  { name: 'a check of the response', hangs: (begun) => ({ hooks: [checked(begun)], script: ['{}'] }) },
  {
    name: 'a check of arguments',
    hangs: (begun) => ({ tools: [{ ...does('a'), validate: () => (begun(), never) }] }),
    grace: 0,
  },
  { name: 'toTask', hangs: asks((begun) => ({ toTask: () => (begun(), never) })), grace: 0 },
  { name: 'toResult', hangs: asks((begun) => ({ toResult: () => (begun(), never) })), grace: 0 },
  {
    name: 'a check of the response of a subagent',
    hangs: asks((begun) => ({ output: checked(begun) })),
    grace: 0,
  },
  {
    name: 'a resumable tool',
    hangs: (begun) => ({ tools: [{ ...does('a', () => (begun(), never)), isResumable: true }] }),
    grace: 30,
  },
];

describe.each(rows)('$name that never settles', (row) => {
  const { hangs, grace = GRACE_SECONDS, stopped = 'stopped', left = 'inProgress' } = row;

  test.each<readonly [AbortKind, Status, seconds: number]>([
    ['cancel', stopped, grace],
    ['yield', left, grace],
    ['lost', left, 0],
  ])('does not block a run that is aborted: %s', async (kind, status, expected) => {
    const controller = new AbortController();
    const begun = (): void => controller.abort(new RunAbort(kind));
    const { state, seconds } = await ended(hangs, begun, { signal: controller.signal });
    expect([controller.signal.aborted, state.status, seconds]).toEqual([true, status, expected]);
  });

  test.each([
    ['maxSeconds', { maxSeconds: 60 }],
    ['deadline', { deadline: START + 60_000 }],
  ])('does not block a run beyond its %s', async (_, budget) => {
    const begun = vi.fn<() => void>();
    const { state, seconds } = await ended(hangs, begun, { budget });
    expect(begun).toHaveBeenCalled();
    expect([state.status, seconds]).toEqual([stopped, 60 + grace]);
  });
});

test('an asynchronous check of arguments counts in the timeout of its tool', async () => {
  const slow = tool({
    name: 'slow',
    description: '',
    inputSchema: { type: 'object' },
    timeoutSeconds: 10,
    retry: { maxAttempts: 3 },
    execute: () => 'done',
  });
  const { state, seconds } = await ended(
    () => ({ tools: [{ ...slow, validate: () => never }], script: [call('slow'), 'Sorry.'] }),
    () => undefined,
  );
  expect([state.status, state.errors[0]?.code, seconds]).toEqual(['completed', 'TOOL_TIMEOUT', 10]);
});

test('the result of a hook that settles within its grace is used', async () => {
  const controller = new AbortController();
  const { state } = await observe({
    script: ['My password is 1234.'],
    run: { signal: controller.signal },
    hooks: [
      {
        async afterInference() {
          controller.abort();
          await new Promise((resolve) => setImmediate(resolve));
          return { response: InferenceResponse.of({ text: '[redacted]' }) };
        },
      },
    ],
  });
  expect(JSON.stringify(state)).not.toContain('1234');
});
