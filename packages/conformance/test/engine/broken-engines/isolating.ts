import { setImmediate } from 'node:timers/promises';
import type { Advance, ServeOptions } from '@holdfast/core/engine';
import { advancing, ending, serving, suspended, type Defect } from './engine-parts.ts';

/** Changes the option `isolated` of a worker. */
const isolatedBy = (change: (isolated: Advance) => ServeOptions['isolated']): Defect =>
  serving(({ engine }, advance, options = {}) => {
    const { isolated } = options;
    return engine.serve(advance, { ...options, isolated: isolated && change(isolated) });
  });

/** Defects in the work on sessions whose last worker died. */
export const suspectDefects: Readonly<Record<string, Defect>> = {
  'forgets suspect sessions': ending((result) =>
    result.outcome.type === 'isolate' ? suspended(result.wake) : result,
  ),
  'advances suspect sessions beside others': advancing((advance) => async (id, options) => {
    const result = await advance(id, options);
    if (result.outcome.type !== 'isolate') return result;
    await setImmediate();
    return { ...result, outcome: { type: 'yield' } };
  }),
  'ignores the isolated process': isolatedBy(() => undefined),
  'isolates all suspect sessions at once': serving(({ engine }, advance, options = {}) => {
    const { isolated, ...others } = options;
    const advanceAnywhere: Advance = async (id, given) => {
      const result = await advance(id, given);
      const isIsolated = isolated !== undefined && result.outcome.type === 'isolate';
      return isIsolated ? isolated(id, { ...given, suspects: 'alone' }) : result;
    };
    return engine.serve(advanceAnywhere, others);
  }),
  'lets suspect sessions wait in the places of others': serving(
    ({ engine, clock }, advance, options = {}) => {
      const { isolated, ...others } = options;
      let last: Promise<unknown> = Promise.resolve();
      const advanceInTurn: Advance = async (id, given) => {
        const result = await advance(id, given);
        if (isolated === undefined || result.outcome.type !== 'isolate') return result;
        const work = last.then(() => isolated(id, { ...given, suspects: 'alone' }));
        last = work.catch(() => undefined);
        return work.catch((error: unknown) => ({
          outcome: { type: 'sleep', until: clock.now() + 5_000 },
          wake: [],
          error,
        }));
      };
      return engine.serve(advanceInTurn, others);
    },
  ),
  'lets this process work on suspect sessions': advancing(
    (advance) => (id, options) => advance(id, { ...options, suspects: 'alone' }),
  ),
  'forgets a suspect session whose isolated process died': isolatedBy(
    (isolated) => async (id, options) =>
      isolated(id, options).catch((error: unknown) => ({ ...suspended([]), error })),
  ),
};
