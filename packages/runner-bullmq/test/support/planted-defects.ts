import { Queue, Worker, type JobsOptions } from 'bullmq';
import { BullmqWakeUps } from '../../src/queue/bullmq-wake-ups.ts';

/** Plants a defect in the engines of this process. Returns the function that removes it. */
type Plant = () => () => void;

/** Replaces a method of a class. */
function replace<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  by: (method: T[K]) => T[K],
): Plant {
  return () => {
    const method = prototype[name];
    prototype[name] = by(method);
    return () => {
      prototype[name] = method;
    };
  };
}

/** Changes the options of the jobs that engines add. */
const changeJobs = (change: (name: string, options: JobsOptions) => JobsOptions): Plant =>
  replace(Queue.prototype, 'add', (add) => {
    return function changed(this: Queue, name, data, options = {}) {
      return add.call(this, name, data, change(name, options));
    };
  });

/** A defect, and a case that an engine with it fails. */
interface Defect {
  readonly plant: Plant;
  readonly fails: string;
  /** The limit of the engine, for a case that needs one. */
  readonly groupConcurrency?: number;
}

/** Defects that BullMQ's other options, or one missing step, would cause. */
export const DEFECTS: Readonly<Record<string, Defect>> = {
  'drops a wake-up during an advance': {
    plant: changeJobs((_, options) =>
      options.deduplication ? { ...options, deduplication: { id: options.deduplication.id } } : options,
    ),
    fails: 'wake-ups: a session that is woken during its advance is advanced once more',
  },
  'has one timer for each session': {
    plant: changeJobs((name, { jobId, ...options }) => {
      if (name !== 'timer' || jobId === undefined)
        return { ...options, ...(jobId !== undefined && { jobId }) };
      return { ...options, deduplication: { id: jobId.slice(0, 32), replace: true } };
    }),
    fails: 'moments: a session that is woken at several instants is advanced at each of them',
  },
  'does not merge wake-ups': {
    plant: changeJobs((_, { deduplication: _merged, ...options }) => options),
    fails: 'wake-ups: 100 wake-ups of one session cause few advances',
  },
  'ignores priorities': {
    plant: changeJobs((_, options) => (options.priority ? { ...options, priority: 1 } : options)),
    fails: 'lanes: a session of a higher priority is advanced first',
  },
  'forgets the group of a session that has no lane': {
    plant: replace(BullmqWakeUps.prototype, 'finish', (finish) => {
      return function forgetful(this: BullmqWakeUps, lock, { wakeUps, ...rest }) {
        const forgotten = wakeUps.map(({ group, isRouted, ...wakeUp }) =>
          wakeUp.lane === undefined ? wakeUp : { ...wakeUp, group, isRouted },
        );
        return finish.call(this, lock, { ...rest, wakeUps: forgotten });
      };
    }),
    fails: 'lanes: sessions with a group and without a lane are advanced until their final response',
    groupConcurrency: 1,
  },
  'does not renew its locks': {
    plant: replace(BullmqWakeUps.prototype, 'renew', () => async () => []),
    fails: 'processes: a long advance in a process keeps its session',
  },
  'does not say which locks it has lost': {
    plant: replace(BullmqWakeUps.prototype, 'renew', (renew) => {
      return async function silent(this: BullmqWakeUps, locks) {
        await renew.call(this, locks);
        return [];
      };
    }),
    fails: 'processes: the signal of an advance aborts when its worker has lost the session',
  },
  'does not look for jobs of dead workers': {
    plant: replace(Worker.prototype, 'startStalledCheckTimer', () => async () => undefined),
    fails: 'processes: every session of two killed workers is advanced to its end',
  },
};
