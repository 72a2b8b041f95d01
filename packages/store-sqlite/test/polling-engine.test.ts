import { fork } from 'node:child_process';
import { engineTests, type CreateEngine, type EngineHarness } from '@holdfast/conformance';
import { FAILED_BY_DESIGN } from '@holdfast/conformance/test';
import { describe, expect, test } from 'vitest';
import { LEASE_SECONDS, openPolling } from './polling.ts';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const worker = new URL('children/poll.ts', import.meta.url);

/** Engines on files, each with a file of its own. */
function fileHarness(): EngineHarness {
  let path = '';
  const reopen: CreateEngine = async (clock) => openPolling(path, clock);
  const create: CreateEngine = (clock) => {
    path = newFile();
    return reopen(clock);
  };
  const processes = () => fork(worker, [path], { execArgv: process.execArgv });
  return { create, reopen, processes, lockSeconds: LEASE_SECONDS, turnMilliseconds: 5, limitSeconds: 120 };
}

const passed = engineTests(fileHarness()).filter(({ name, skip }) => !skip && !(name in FAILED_BY_DESIGN));
const inProcesses = passed.filter(({ name }) => name.startsWith('processes:'));

/** Runs a case with a harness of its own, because cases run at the same time. */
function runAlone(name: string): Promise<void> {
  const found = engineTests(fileHarness()).find((one) => one.name === name);
  return found === undefined ? Promise.reject(new Error(`No case "${name}".`)) : found.run();
}

describe('PollingEngine on a SQLite file', { timeout: 120_000 }, () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(passed)('$name', ({ name }) => runAlone(name));

  test('the cases with processes are not skipped', () => {
    expect(inProcesses).toHaveLength(10);
  });
});
