import { InProcessEngine } from '@holdfast/core';
import type { Advance, AdvanceOptions, AdvanceResult } from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { settled } from '../../../support/durable-world.ts';

const result = (type: 'finished' | 'isolate' | 'yield'): AdvanceResult => ({ outcome: { type }, wake: [] });

/** Advances that wait until the test ends them. */
function gated(outcomeOf: (sessionId: string, options: AdvanceOptions) => AdvanceResult) {
  const started: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const options: AdvanceOptions[] = [];
  const advance: Advance = async (sessionId, given = {}) => {
    started.push(sessionId);
    options.push(given);
    const gate = Promise.withResolvers<void>();
    gates.set(sessionId, gate);
    await gate.promise;
    return outcomeOf(sessionId, given);
  };
  const end = async (sessionId: string): Promise<void> => {
    gates.get(sessionId)?.resolve();
    await settled();
  };
  return { started, options, advance, end };
}

const isolateSuspects = (sessionId: string, { suspects }: AdvanceOptions): AdvanceResult =>
  result(sessionId.startsWith('suspect') && suspects === 'refuse' ? 'isolate' : 'finished');

async function wakeAll(engine: InProcessEngine, ...sessionIds: readonly string[]): Promise<void> {
  for (const sessionId of sessionIds) await engine.wake(sessionId);
  await settled();
}

describe('a suspect session', () => {
  test('goes one at a time to the isolated process, while the engine works on others', async () => {
    const engine = new InProcessEngine();
    const [main, isolated] = [gated(isolateSuspects), gated(isolateSuspects)];
    await engine.serve(main.advance, { isolated: isolated.advance });
    await wakeAll(engine, 'suspect 1', 'suspect 2', 'other');
    await main.end('suspect 1');
    await main.end('suspect 2');
    expect(isolated.started).toEqual(['suspect 1']);
    expect(isolated.options).toMatchObject([{ maxSteps: 1, suspects: 'alone' }]);
    await main.end('other');
    await wakeAll(engine, 'late');
    expect(main.started).toEqual(['suspect 1', 'suspect 2', 'other', 'late']);
    await isolated.end('suspect 1');
    expect(isolated.started).toEqual(['suspect 1', 'suspect 2']);
  });

  test('without an isolated process, waits for the work and then holds up other work', async () => {
    const engine = new InProcessEngine();
    const main = gated(isolateSuspects);
    await engine.serve(main.advance);
    await wakeAll(engine, 'suspect', 'other');
    await main.end('suspect');
    await wakeAll(engine, 'late');
    expect(main.started).toEqual(['suspect', 'other']);
    await main.end('other');
    expect(main.started).toEqual(['suspect', 'other', 'suspect']);
    expect(main.options.at(-1)).toMatchObject({ maxSteps: 1, suspects: 'alone' });
    await main.end('suspect');
    expect(main.started).toEqual(['suspect', 'other', 'suspect', 'late']);
  });

  test('is woken among the others after its step', async () => {
    const engine = new InProcessEngine();
    const seen: unknown[] = [];
    await engine.serve(async (sessionId, options = {}) => {
      seen.push(options.suspects);
      if (seen.length === 3) return result('finished');
      return isolateSuspects(sessionId, options).outcome.type === 'isolate'
        ? result('isolate')
        : result('yield');
    });
    await wakeAll(engine, 'suspect');
    expect(seen).toEqual(['refuse', 'alone', 'refuse']);
  });

  test.each(['throws', 'is not alone there either'] as const)(
    'is tried again after a pause when its attempt %s',
    async (what) => {
      const clock = manualClock(1_000);
      const engine = new InProcessEngine({ clock });
      const errors: unknown[] = [];
      let attempts = 0;
      const isolated: Advance = async () => {
        attempts++;
        if (what === 'throws') throw new Error('The process ended.');
        return result('isolate');
      };
      await engine.serve(async (sessionId, options = {}) => isolateSuspects(sessionId, options), {
        isolated,
        onError: (error) => errors.push(error),
      });
      await wakeAll(engine, 'suspect');
      expect([attempts, errors.length]).toEqual([1, what === 'throws' ? 1 : 0]);
      clock.advance(4_999);
      await settled();
      expect(attempts).toBe(1);
      clock.advance(1);
      await settled();
      expect(attempts).toBe(2);
    },
  );

  test('is worked on once although it is woken again meanwhile', async () => {
    const engine = new InProcessEngine();
    const [main, isolated] = [gated(isolateSuspects), gated(isolateSuspects)];
    await engine.serve(main.advance, { isolated: isolated.advance });
    await wakeAll(engine, 'suspect');
    await wakeAll(engine, 'suspect');
    await main.end('suspect');
    await wakeAll(engine, 'suspect');
    expect([main.started, isolated.started]).toEqual([['suspect'], ['suspect']]);
    await isolated.end('suspect');
    expect(main.started).toEqual(['suspect', 'suspect']);
  });

  test('yields when the engine stops, and the stop waits for it', async () => {
    const engine = new InProcessEngine();
    const isolated = gated(isolateSuspects);
    const main = gated(isolateSuspects);
    const worker = await engine.serve(main.advance, { isolated: isolated.advance });
    await wakeAll(engine, 'suspect');
    await main.end('suspect');
    let hasStopped = false;
    const stopping = worker.stop().then(() => (hasStopped = true));
    await settled();
    expect([isolated.options[0]?.signal?.aborted, hasStopped]).toEqual([true, false]);
    await isolated.end('suspect');
    await stopping;
  });

  test('has its own turn although its attempt wakes other sessions at once', async () => {
    const engine = new InProcessEngine();
    const main = gated(isolateSuspects);
    let isFirstAttempt = true;
    await engine.serve((sessionId, options = {}) => {
      if (options.suspects === 'alone' && isFirstAttempt) void engine.wake('child');
      isFirstAttempt &&= options.suspects !== 'alone';
      return main.advance(sessionId, options);
    });
    await wakeAll(engine, 'suspect 1', 'suspect 2');
    await main.end('suspect 1');
    await main.end('suspect 2');
    expect(main.started).toEqual(['suspect 1', 'suspect 2', 'suspect 1']);
    await main.end('suspect 1');
    expect(main.started.slice(3)).toEqual(['suspect 2']);
    await main.end('suspect 2');
    expect(main.started.slice(4)).toEqual(['child']);
  });
});
