import type { Metrics } from '../results.ts';
import { measureFairness } from './measure-fairness.ts';
import { measureLimit } from './measure-limit.ts';
import { measureRecovery } from './measure-recovery.ts';
import type { SceneMetric } from './scene-metric.ts';

export type SceneName = 'recovery' | 'limit' | 'fairness';

/** A scene, with the title and the lines of its table. */
interface Scene {
  readonly title: string;
  readonly heads: Readonly<Partial<Record<SceneMetric, string>>>;
  readonly measure: (isQuick: boolean) => Promise<Metrics<SceneMetric>>;
}

export const SCENES: Readonly<Record<SceneName, Scene>> = {
  recovery: {
    title: 'SIGKILL of one of three workers, lock of 2 s, search each second',
    heads: {
      kills: 'kills',
      sessions: 'sessions that another worker continued',
      least: 'from the kill to the continuation: least, s',
      median: 'median, s',
      most: 'most, s',
      bound: 'lock + 2 × stalled, s',
    },
    measure: measureRecovery,
  },
  limit: {
    title: 'A 429 on one of four lanes',
    heads: {
      othersBefore: 'steps a second of the other three before',
      othersDuring: 'during',
      othersRatio: 'during / before',
      limitedBefore: 'steps a second of the limited lane before',
      limitedDuring: 'during',
    },
    measure: measureLimit,
  },
  fairness: {
    title: 'Ten owners with 500, 200, 100, 50, 20, 10, 5, 3, 2 and 1 sessions',
    heads: {
      smallestAlone: 'wait of the owner with one session, without groups, s',
      totalAlone: 'all sessions, without groups, s',
      smallestGrouped: 'wait of the owner with one session, with groups, s',
      totalGrouped: 'all sessions, with groups, s',
    },
    measure: measureFairness,
  },
};
