import { measureRedis, type RedisOptions } from './measure-redis.ts';
import { measureSaves, type SavesOptions } from './measure-saves.ts';

/** The task of a process. */
export type StoreTask =
  | ({ readonly measure: 'saves' } & SavesOptions)
  | ({ readonly measure: 'redis' } & RedisOptions);

// The parent wrote the argument.
const task = JSON.parse(process.argv[2] ?? '') as StoreTask;
const costs = task.measure === 'saves' ? await measureSaves(task) : await measureRedis(task);
process.send?.(costs, () => process.exit());
