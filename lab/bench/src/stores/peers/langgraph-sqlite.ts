import { join } from 'node:path';
import { load } from '../../../peers/load.ts';
import type { StorePeer, StorePlace } from '../store-peer.ts';
import { savedBy, type Saver } from './langgraph.ts';

interface SqliteSavers {
  readonly SqliteSaver: { fromConnString(path: string): SqliteSaver };
}

interface SqliteSaver extends Saver {
  readonly db: { close(): void };
}

const { SqliteSaver } = await load<SqliteSavers>('@langchain/langgraph-checkpoint-sqlite');

/**
 * `SqliteSaver` of `@langchain/langgraph-checkpoint-sqlite`. `better-sqlite3` is compiled to wait for the disk at checkpoints
 * only (`synchronous = NORMAL`) when there is a write-ahead log: the fair neighbour is `store-sqlite-normal`.
 */
export function langgraphSqlite({ folder }: StorePlace): StorePeer {
  const saver = SqliteSaver.fromConnString(join(folder, 'checkpoints.db'));
  return savedBy(saver, async () => saver.db.close());
}
