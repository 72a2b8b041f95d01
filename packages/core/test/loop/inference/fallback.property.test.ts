import { AgentState, createAgentLoop, RunAbort } from '@holdfast/core';
import { DriverError, type DriverErrorKind } from '@holdfast/core/driver';
import type { Checkpoint } from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { driverOf, expectSound, nextStart, readBack } from '../../support/builders.ts';

/** How one call of a model ends. */
interface Fate {
  readonly kind: DriverErrorKind | 'responds';
  readonly seconds: number;
  readonly retryAfterSeconds: number | undefined;
  /** The process dies: during the call, or when it saves the failure. */
  readonly dies: 'inCall' | 'atSave' | undefined;
}

interface Outage {
  readonly models: readonly string[];
  readonly forSeconds: number;
  readonly maxElapsedSeconds: number;
  readonly fates: readonly Fate[];
}

interface Call {
  readonly model: string;
  readonly from: number;
  readonly to: number;
}

const INITIAL_SECONDS = 2;
const seconds = fc.constantFrom(0, 1, 10, 300, 301, 1_000);
const fate: fc.Arbitrary<Fate> = fc.record({
  kind: fc.constantFrom(
    ...([
      'overloaded',
      'timeout',
      'rateLimited',
      'network',
      'timeout',
      'authentication',
      'invalidRequest',
    ] as const),
    'responds' as const,
  ),
  seconds,
  retryAfterSeconds: fc.constantFrom(undefined, undefined, 1, 60, 4_000),
  dies: fc.constantFrom(undefined, undefined, undefined, 'inCall' as const, 'atSave' as const),
});
const outage: fc.Arbitrary<Outage> = fc.record({
  models: fc.subarray(['b', 'own', 'c', 'd'], { minLength: 1 }),
  forSeconds: fc.constantFrom(1, 300, 100_000),
  maxElapsedSeconds: fc.constantFrom(0, 30, 900, 3_600),
  fates: fc.array(fate, { maxLength: 30 }),
});
/** After its fates, every call fails for ever, slowly. */
const LAST: Fate = { kind: 'timeout', seconds: 300, retryAfterSeconds: undefined, dies: undefined };

/** Runs to the end in as many processes as it takes; returns the calls that the state knows, in order. */
async function live({ models, forSeconds, maxElapsedSeconds, fates }: Outage) {
  const clock = manualClock(nextStart());
  const calls: Call[] = [];
  let saved = AgentState.empty({ at: clock.now() })
    .withLlmConfig({ model: 'own' }, clock.now())
    .withUserMessage('Hi', { clock }, clock.now());
  let index = 0;
  for (;;) {
    const process = new AbortController();
    const dies = (): never => {
      process.abort(new RunAbort('lost'));
      throw new Error('The process died.');
    };
    let { dies: pending }: Pick<Fate, 'dies'> = LAST;
    const driver = driverOf(async ({ llmConfig }) => {
      if (index > 1_000) throw new Error('The calls have no end.');
      const { kind, ...next } = fates[index++] ?? LAST;
      pending = next.dies;
      if (pending === 'inCall') dies();
      const from = clock.now();
      if (pending === undefined) {
        clock.advance(next.seconds * 1_000);
        calls.push({ model: String(llmConfig?.model), from, to: clock.now() });
      }
      if (kind === 'responds') return { text: 'Fine.' };
      throw new DriverError(kind, 'It fails.', next);
    });
    const save: Checkpoint['save'] = async (state) => {
      if (pending === 'atSave') dies();
      return (saved = state);
    };
    const inferenceRetry = { initialDelaySeconds: INITIAL_SECONDS, maxElapsedSeconds, maxPauseSeconds: 0 };
    const loop = createAgentLoop({ driver, clock, inferenceRetry, fallback: { models, forSeconds } });
    const state = await loop
      .run(readBack(saved), { checkpoint: { save }, signal: process.signal })
      .catch(() => undefined);
    if (state === undefined || process.signal.aborted) continue;
    saved = expectSound(state);
    const [waiting] = state.execution?.waiting ?? [];
    if (waiting?.type !== 'retry' || waiting.until === undefined) return { state, calls };
    clock.advance(waiting.until - clock.now());
  }
}

test('between two pauses each model is called at most once, in the order of the list, and the calls have an end', async () => {
  await fc.assert(
    fc.asyncProperty(outage, async (init) => {
      const { state, calls } = await live(init);
      const order = ['own', ...init.models.filter((model) => model !== 'own')];
      const rounds: number[][] = [];
      for (const [index, { model, from }] of calls.entries()) {
        if (from !== calls[index - 1]?.to) rounds.push([]);
        rounds.at(-1)?.push(order.indexOf(model));
      }
      for (const round of rounds) {
        expect(round[0], 'a round begins with the own model').toBe(0);
        expect(round).toEqual(order.slice(0, round.length).map((_, position) => position));
      }
      const elapsed = init.maxElapsedSeconds * 1_000;
      expect(rounds.length).toBeLessThanOrEqual(elapsed === 0 ? 1 : Infinity);
      const lasted = Math.max(0, (calls.at(-1)?.from ?? 0) - (calls[0]?.to ?? 0));
      expect(lasted).toBeLessThanOrEqual(elapsed === 0 ? Infinity : elapsed);
      // The pauses grow, so the policy allows few rounds; each adds at most one failure for each model.
      const pauses = Math.ceil(Math.log2(1 + elapsed / (INITIAL_SECONDS * 500))) + elapsed / 150_000;
      const failures = state.steps[0]?.inferenceFailures.length ?? 0;
      expect(failures).toBeLessThanOrEqual(order.length * (1 + pauses));
      expect(['completed', 'failed']).toContain(state.status);
    }),
    cases(60),
  );
});
