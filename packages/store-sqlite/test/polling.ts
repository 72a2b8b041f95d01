import { DatabaseSync } from 'node:sqlite';
import { ScriptedSessions, SHORT_LEASE_SECONDS } from '@holdfast/conformance/test';
import { systemClock, type Clock } from '@holdfast/core';
import { PollingEngine, type ExecutionEngine } from '@holdfast/core/engine';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

const BUSY_MS = 30_000;
/**
 * More sessions of a group than a case has. An engine with such a limit learns the group of each session before its work.
 */
const GROUP_CONCURRENCY = 1_000;

/** Opens a polling engine on a file that survives its process, and not a power cut: it does not wait for the disk. */
export function openPolling(path: string, clock: Clock = systemClock, leaseSeconds = SHORT_LEASE_SECONDS) {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = ${BUSY_MS}`);
  const store = new SqliteSessionStore({ database, clock });
  const limits = { againAfterSeconds: SHORT_LEASE_SECONDS, groupConcurrency: GROUP_CONCURRENCY };
  const polling = new PollingEngine({ store, clock, pollSeconds: 0.02, ...limits });
  const engine: ExecutionEngine = new ScriptedSessions(store, clock, leaseSeconds).on(polling);
  const close = async (): Promise<void> => {
    await store.close();
    database.close();
  };
  return { engine, close };
}
