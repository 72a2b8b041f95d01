import { setImmediate } from 'node:timers/promises';
import { RunAbort } from '@holdfast/core';
import type { Advance, EngineWorker } from '@holdfast/core/engine';
import type { Defect } from './engine-parts.ts';
import { advancing, inProcess, suspended, serving } from './engine-parts.ts';

/** How many at once, and stopping. */
export const stopDefects: Readonly<Record<string, Defect>> = {
  'works on any number at once': serving(({ engine }, advance) =>
    engine.serve(advance, { concurrency: 1_000 }),
  ),
  'works on one at a time': serving(({ engine }, advance) => engine.serve(advance, { concurrency: 1 })),
  'takes more when all are done': advancing((advance) => {
    const underWay = new Set<Promise<unknown>>();
    return async (id, options) => {
      const work = advance(id, options);
      underWay.add(work);
      await Promise.allSettled(underWay);
      underWay.delete(work);
      return work;
    };
  }),
  'stops without waiting': stopping(async (served) => void served.stop()),
  'can be stopped once': (sound) => {
    const stopped = new WeakSet<EngineWorker>();
    return stopping(async (served) => {
      if (stopped.has(served)) throw new Error('It has been stopped.');
      stopped.add(served);
      await served.stop();
    })(sound);
  },
  'does not say that it stops': advancing((advance) => {
    const { signal } = new AbortController();
    return (id, options) => advance(id, { ...options, signal });
  }),
  'cancels what is under way when it stops': advancing((advance) => (id, options) => {
    const own = new AbortController();
    options?.signal?.addEventListener('abort', () => own.abort(new RunAbort('cancel')));
    return advance(id, { ...options, signal: own.signal });
  }),
  'works on after a stop': ({ engine }) => {
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
  'forgets everything when it stops': ({ clock }) => {
    let engine = inProcess(clock);
    return {
      wake: (...args) => engine.wake(...args),
      async serve(...args) {
        const served = await engine.serve(...args);
        return {
          async stop() {
            await served.stop();
            engine = inProcess(clock);
          },
        };
      },
    };
  },
  'forgets what comes of work as it stops': advancing((advance) => async (id, options) => {
    const result = await advance(id, options);
    return options?.signal?.aborted ? suspended([]) : result;
  }),
  'takes no wake-up after a stop': ({ engine }) => {
    let isStopped = false;
    return {
      async wake(...args) {
        if (!isStopped) await engine.wake(...args);
      },
      async serve(...args) {
        isStopped = false;
        const served = await engine.serve(...args);
        return {
          stop() {
            isStopped = true;
            return served.stop();
          },
        };
      },
    };
  },
  'stops whoever serves': ({ engine }) => {
    let last: EngineWorker;
    return {
      async serve(...args) {
        last = await engine.serve(...args);
        return { stop: () => last.stop() };
      },
    };
  },
  'never takes back that it stops': ({ engine }) => {
    const leaving = new AbortController();
    return {
      async serve(advance, options) {
        const served = await engine.serve(async (id, given) => {
          await setImmediate();
          return advance(id, { ...given, signal: leaving.signal });
        }, options);
        return {
          stop() {
            leaving.abort(new RunAbort('yield'));
            return served.stop();
          },
        };
      },
    };
  },
};

function stopping(stop: (served: EngineWorker) => Promise<void>): Defect {
  return serving(async ({ engine }, ...args) => {
    const served = await engine.serve(...args);
    return { stop: () => stop(served) };
  });
}
