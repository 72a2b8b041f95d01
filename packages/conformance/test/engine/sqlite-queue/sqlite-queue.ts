import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateEngine, EngineHarness } from '@holdfast/conformance';
import { systemClock, type Clock } from '@holdfast/core';
import { QueueEngine, type ExecutionEngine } from '@holdfast/core/engine';
import { WakeUpTable, type TableOptions } from './wake-up-table.ts';

/** Worker processes start faster with compiled code of their last start. */
const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'holdfast-compile-cache') };

const TABLE_OPTIONS = { lockSeconds: 2, pollSeconds: 0.002 };

/** A table that survives its process, and not a power cut: it does not wait for the disk. */
export class TestTable extends WakeUpTable {
  constructor(path: string, options: TableOptions = {}) {
    super(path, { ...TABLE_OPTIONS, ...options });
    this.database.exec('PRAGMA synchronous = OFF');
  }
}

/** Opens an engine on a file. */
export type OpenQueue = (
  path: string,
  clock?: Clock,
) => { readonly engine: ExecutionEngine; readonly close: () => void };

/** Opens a table in a file. */
export type OpenTable = (path: string, options: TableOptions & { readonly clock: Clock }) => WakeUpTable;

export const openQueueWith =
  (open: OpenTable): OpenQueue =>
  (path, clock = systemClock) => {
    const table = open(path, { clock });
    return { engine: new QueueEngine(table, { clock }), close: () => table.close() };
  };

export const openQueue = openQueueWith((path, options) => new TestTable(path, options));

/** Creates the harness of engines on files. A process opens its engine by `worker.ts`, with this defect. */
export function queueHarness(open: OpenQueue = openQueue, defect = ''): EngineHarness {
  let path = '';
  const worker = new URL('worker.ts', import.meta.url);
  const reopen: CreateEngine = async (clock) => {
    const { engine, close } = open(path, clock);
    return { engine, close: async () => close() };
  };
  return {
    async create(clock) {
      const folder = mkdtempSync(join(tmpdir(), 'queue-'));
      path = join(folder, 'queue.db');
      const { engine, close } = open(path, clock);
      return {
        engine,
        async close() {
          close();
          rmSync(folder, { recursive: true });
        },
      };
    },
    clock: true,
    reopen,
    processes: () => fork(worker, [path, defect], { env }),
    lockSeconds: TABLE_OPTIONS.lockSeconds,
  };
}
