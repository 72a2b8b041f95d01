import { fork } from 'node:child_process';
import type { CreateEngine, EngineHarness } from '@holdfast/conformance';
import { testPollingEngine } from '@holdfast/conformance/vitest';
import { describe } from 'vitest';
import { openPolling } from './polling.ts';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const worker = new URL('children/poll.ts', import.meta.url);

/** Engines on files, each with a file of its own. */
function fileHarness(leaseSeconds: number): EngineHarness {
  let path = '';
  const reopen: CreateEngine = async (clock) => openPolling(path, clock, leaseSeconds);
  const create: CreateEngine = (clock) => {
    path = newFile();
    return reopen(clock);
  };
  const processes = () => fork(worker, [path], { execArgv: process.execArgv });
  return { create, reopen, processes, lockSeconds: leaseSeconds, turnMilliseconds: 5, limitSeconds: 120 };
}

describe('PollingEngine on a SQLite file', () => {
  testPollingEngine(fileHarness);
});
