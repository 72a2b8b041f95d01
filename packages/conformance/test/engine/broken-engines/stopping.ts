import { setImmediate } from 'node:timers/promises';
import { RunAbort } from '@holdfast/core';
import type { Advance, EngineWorker } from '@holdfast/core/engine';
import { advancing, inProcess, suspended, serving, type Defect } from './engine-parts.ts';

/** Defects in concurrency and stopping. */
export const stopDefects: Readonly<Record<string, Defect>> = {
  'advances any number of sessions at the same time': serving(({ engine }, advance, options) =>
    engine.serve(advance, { ...options, concurrency: 1_000 }),
  ),
  'advances one session at a time': serving(({ engine }, advance, options) =>
    engine.serve(advance, { ...options, concurrency: 1 }),
  ),
  'starts new advances only when all have ended': advancing((advance) => {
    const underWay = new Set<Promise<unknown>>();
    return async (id, options) => {
      const work = advance(id, options);
      underWay.add(work);
      await Promise.allSettled(underWay);
      underWay.delete(work);
      return work;
    };
  }),
  'stops without waiting for advances': stopping(async (served) => void served.stop()),
  'can be stopped only once': (sound) => {
    const stopped = new WeakSet<EngineWorker>();
    return stopping(async (served, options) => {
      if (stopped.has(served)) throw new Error('The worker has been stopped already.');
      stopped.add(served);
      await served.stop(options);
    })(sound);
  },
  'does not abort advances when it stops': advancing((advance) => {
    const { signal } = new AbortController();
    return (id, options) => advance(id, { ...options, signal });
  }),
  'cancels running advances when it stops': advancing((advance) => (id, options) => {
    const own = new AbortController();
    options?.signal?.addEventListener('abort', () => own.abort(new RunAbort('cancel')));
    return advance(id, { ...options, signal: own.signal });
  }),
  'ignores withinSeconds': stopping((served) => served.stop()),
  'always waits for withinSeconds': ({ engine, clock }) => ({
    async serve(...args) {
      const served = await engine.serve(...args);
      return {
        async stop(options) {
          await served.stop(options);
          const { withinSeconds = 0 } = options ?? {};
          if (withinSeconds > 0)
            await new Promise<void>((resolve) => clock.after?.(withinSeconds * 1_000, resolve));
        },
      };
    },
  }),
  'does not wait when a stop has withinSeconds': stopping((served, options) =>
    served.stop(options?.withinSeconds === undefined ? options : { withinSeconds: 0.001 }),
  ),
  'continues after a stop that did not wait for the work': ({ engine }) => ({
    async serve(advance, options) {
      const served = await engine.serve(advance, options);
      return {
        async stop(stopOptions) {
          await served.stop(stopOptions);
          if (stopOptions?.withinSeconds !== undefined) await engine.serve(advance, options);
        },
      };
    },
  }),
  'starts advances after a stop': ({ engine }) => {
    let present: Advance = async () => suspended([]);
    let served: Promise<EngineWorker> | undefined;
    return {
      async serve(advance, options) {
        const underWay = new Set<Promise<unknown>>();
        const leaving = new AbortController();
        present = (id, given) => {
          const work = advance(id, { ...given, signal: leaving.signal });
          underWay.add(work);
          return work.finally(() => underWay.delete(work));
        };
        served ??= engine.serve((id, given) => present(id, given), options);
        await served;
        return {
          async stop() {
            leaving.abort(new RunAbort('yield'));
            await Promise.allSettled(underWay);
          },
        };
      },
    };
  },
  'forgets all sessions when it stops': ({ clock }) => {
    let engine = inProcess(clock);
    return {
      wake: (...args) => engine.wake(...args),
      async serve(...args) {
        const served = await engine.serve(...args);
        return {
          async stop(options) {
            await served.stop(options);
            engine = inProcess(clock);
          },
        };
      },
    };
  },
  'forgets the outcome of an advance during a stop': advancing((advance) => async (id, options) => {
    const result = await advance(id, options);
    return options?.signal?.aborted ? suspended([]) : result;
  }),
  'refuses wake-ups after a stop': ({ engine }) => {
    let isStopped = false;
    return {
      async wake(...args) {
        if (!isStopped) await engine.wake(...args);
      },
      async serve(...args) {
        isStopped = false;
        const served = await engine.serve(...args);
        return {
          stop(options) {
            isStopped = true;
            return served.stop(options);
          },
        };
      },
    };
  },
  'stops the last worker instead of an earlier one': ({ engine }) => {
    let last: EngineWorker;
    return {
      async serve(...args) {
        last = await engine.serve(...args);
        return { stop: (options) => last.stop(options) };
      },
    };
  },
  'passes an aborted signal to the next worker': ({ engine }) => {
    const leaving = new AbortController();
    return {
      async serve(advance, options) {
        const served = await engine.serve(async (id, given) => {
          await setImmediate();
          return advance(id, { ...given, signal: leaving.signal });
        }, options);
        return {
          stop(options) {
            leaving.abort(new RunAbort('yield'));
            return served.stop(options);
          },
        };
      },
    };
  },
};

function stopping(
  stop: (served: EngineWorker, ...args: Parameters<EngineWorker['stop']>) => Promise<void>,
): Defect {
  return serving(async ({ engine }, ...args) => {
    const served = await engine.serve(...args);
    return { stop: (options) => stop(served, options) };
  });
}
