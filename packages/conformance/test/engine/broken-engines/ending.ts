import { setImmediate } from 'node:timers/promises';
import type { Advance, ExecutionEngine, EngineWorker } from '@holdfast/core/engine';
import { advancing, ending, serving, suspended, waking, type Defect } from './engine-parts.ts';

/** A `wake` that only records the wake-up of a session during its advance. */
const noting =
  (engine: ExecutionEngine, woken: Map<string, boolean>): ExecutionEngine['wake'] =>
  async (id, options) => {
    if (woken.has(id) && !options?.at) woken.set(id, true);
    else await engine.wake(id, options);
  };

/** Defects in handling the outcome of an advance. */
export const outcomeDefects: Readonly<Record<string, Defect>> = {
  'does not wake a session after a rate limit': ending((result) =>
    result.outcome.type === 'throttled' ? { ...result, outcome: { type: 'suspended' } } : result,
  ),
  'starts sessions of a throttled lane': ending((result) =>
    result.outcome.type === 'throttled'
      ? { ...result, outcome: { type: 'sleep', until: result.outcome.until } }
      : result,
  ),
  'ignores the instant of a lost session': ending((result) =>
    result.outcome.type === 'lost' ? { ...result, outcome: { type: 'lost' } } : result,
  ),
  'does not pass on the error that an advance returned': ending((result) => ({
    ...result,
    error: undefined,
  })),
  'does not pass on the error that an advance threw': advancing((advance) => async (id, options) => {
    try {
      return await advance(id, options);
    } catch {
      return suspended([]);
    }
  }),
  'ignores priorities': waking(({ engine }, id, options) =>
    engine.wake(id, { ...options, priority: undefined }),
  ),
  'ignores groups': waking(({ engine }, id, options) => engine.wake(id, { ...options, group: undefined })),
  'ignores the priorities of groups': waking(({ engine }, id, { group, priority, ...options } = {}) =>
    engine.wake(id, { ...options, group, priority: group === undefined ? priority : undefined }),
  ),
  'has one queue for all lanes': waking(({ engine }, id, options) =>
    engine.wake(id, { ...options, lane: undefined }),
  ),
  'treats a yield as the end': ending((result) =>
    result.outcome.type === 'yield' ? suspended(result.wake) : result,
  ),
  'advances a session again at once while it yields': advancing((advance) => async (id, options) => {
    const wake: string[] = [];
    for (;;) {
      const result = await advance(id, options);
      wake.push(...result.wake);
      if (result.outcome.type !== 'yield' || options?.signal?.aborted) return { ...result, wake };
      await setImmediate();
    }
  }),
  'forgets sleeping sessions': ending((result) =>
    result.outcome.type === 'sleep' ? suspended(result.wake) : result,
  ),
  'treats a sleep as a yield': ending((result) =>
    result.outcome.type === 'sleep' ? { ...result, outcome: { type: 'yield' } } : result,
  ),
  'forgets sessions whose sleep ended in the past': ({ engine, clock }) => ({
    serve: (advance, options) =>
      engine.serve(async (id, given) => {
        const result = await advance(id, given);
        const isOver = result.outcome.type === 'sleep' && result.outcome.until <= clock.now();
        return isOver ? suspended(result.wake) : result;
      }, options),
  }),
  'advances sessions again that neither yield nor sleep': advancing((advance) => async (id, options) => {
    const result = await advance(id, options);
    await setImmediate();
    const isResting = result.outcome.type !== 'yield' && result.outcome.type !== 'sleep';
    return isResting ? { ...result, wake: [...result.wake, id] } : result;
  }),
  'delays a wake-up during an advance until the end of the sleep': ({ engine }) => {
    const woken = new Map<string, boolean>();
    return {
      wake: noting(engine, woken),
      serve: (advance, options) =>
        engine.serve(async (id, given) => {
          woken.set(id, false);
          const result = await advance(id, given).catch((error: Error) => error);
          const isWanted = woken.get(id) === true;
          woken.delete(id);
          const sleeps = !(result instanceof Error) && result.outcome.type === 'sleep';
          if (isWanted && !sleeps) await engine.wake(id);
          if (result instanceof Error) throw result;
          return result;
        }, options),
    };
  },
  'forgets the sessions to wake': ending((result) => ({ ...result, wake: [] })),
  'wakes other sessions only after a finished advance': ending((result) => ({
    ...result,
    wake: result.outcome.type === 'finished' ? result.wake : [],
  })),
  'does not wake a session that wakes itself': ending((result, id) => ({
    ...result,
    wake: result.wake.filter((other) => other !== id),
  })),
  'stops when an advance throws': serving(async ({ engine }, advance, options) => {
    const served: EngineWorker = await engine.serve(async (id, given) => {
      try {
        return await advance(id, given);
      } catch (error) {
        void served.stop();
        throw error;
      }
    }, options);
    return served;
  }),
  'never advances a session again after its advance threw': ({ engine }) => {
    const bad = new Set<string>();
    return {
      async wake(id, options) {
        if (!bad.has(id)) await engine.wake(id, options);
      },
      serve: (advance, options) =>
        engine.serve((id, given) => {
          return advance(id, given).catch((error: unknown) => {
            bad.add(id);
            throw error;
          });
        }, options),
    };
  },
  'forgets wake-ups during an advance that throws': ({ engine }) => {
    const woken = new Map<string, boolean>();
    return {
      wake: noting(engine, woken),
      serve: (advance, options) =>
        engine.serve(async (id, given) => {
          woken.set(id, false);
          const result = await advance(id, given).finally(() => {
            if (woken.get(id) === true) woken.set(id, false);
            else woken.delete(id);
          });
          if (woken.delete(id)) await engine.wake(id);
          return result;
        }, options),
    };
  },
  'never resolves a stop after an advance threw': serving(async ({ engine }, advance, options) => {
    let hasThrown = false;
    const watched: Advance = (id, given) =>
      advance(id, given).catch((error: unknown) => {
        hasThrown = true;
        throw error;
      });
    const served = await engine.serve(watched, options);
    return {
      async stop(stopOptions) {
        await served.stop(stopOptions);
        if (hasThrown) await new Promise(() => undefined);
      },
    };
  }),
};
