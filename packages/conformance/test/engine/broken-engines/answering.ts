import { setImmediate } from 'node:timers/promises';
import type { AdvanceOptions, AdvanceResult, EngineWorker, Schedule } from '@holdfast/core/engine';
import { advancing, ending, serving, suspended, type Defect } from './engine-parts.ts';

/** Changes the schedule of the next work. */
const scheduling = (change: { [Member in keyof Schedule]: undefined }): Defect =>
  ending((result) => (result.next ? { ...result, next: { ...result.next, ...change } } : result));

/** Changes the option `route` of each advance. */
const routing = (change: () => AdvanceOptions['route']): Defect =>
  advancing((advance) => (id, options) => advance(id, { ...options, route: change() }));

/** Wakes a session at once, a turn later, when its result is such. */
const repeating = (isRepeated: (result: AdvanceResult) => boolean): Defect =>
  advancing((advance) => async (id, options) => {
    const result = await advance(id, options);
    if (!isRepeated(result)) return result;
    await setImmediate();
    return { ...result, outcome: { type: 'yield' } };
  });

/** Defects in what follows from the members `next` and `error` of a result, and from an error that is thrown. */
export const answerDefects: Readonly<Record<string, Defect>> = {
  'ignores the priority of the next work': scheduling({ priority: undefined }),
  'ignores the lane of the next work': scheduling({ lane: undefined }),
  'ignores the group of the next work': scheduling({ group: undefined }),
  'does not route wake-ups without a lane': routing(() => undefined),
  'routes wake-ups of every lane': routing(() => 'lane'),
  'routes wake-ups of every group': routing(() => 'group'),
  'routes every wake-up': routing(() => 'lane-and-group'),
  'wakes a session at once that waits for a rate limit': repeating(
    ({ outcome }) => outcome.type === 'throttled',
  ),
  'wakes a lost session at once': repeating(
    ({ outcome }) => outcome.type === 'lost' && outcome.until !== undefined,
  ),
  'forgets a session whose advance returned an error': ending((result) =>
    result.error === undefined ? result : { ...suspended(result.wake), error: result.error },
  ),
  'wakes a session at once whose advance returned an error': repeating(({ error }) => error !== undefined),
  'wakes a session at once whose advance threw': advancing((advance, { engine }) => async (id, options) => {
    try {
      return await advance(id, options);
    } catch (error) {
      await setImmediate();
      await engine.wake(id);
      throw error;
    }
  }),
  'never ends an advance that threw before it returned a promise': advancing((advance) => (id, options) => {
    try {
      return advance(id, options);
    } catch {
      return new Promise(() => undefined);
    }
  }),
  'reports each error twice': serving(({ engine }, advance, options) =>
    engine.serve(advance, {
      ...options,
      onError(...args) {
        options?.onError?.(...args);
        options?.onError?.(...args);
      },
    }),
  ),
  'stops when onError throws': serving(async ({ engine }, advance, options) => {
    const served: EngineWorker = await engine.serve(advance, {
      ...options,
      onError(...args) {
        try {
          options?.onError?.(...args);
        } catch {
          void served.stop();
        }
      },
    });
    return served;
  }),
};
