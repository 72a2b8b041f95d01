import { fork } from 'node:child_process';
import { engineTests, type CreateEngine, type EngineHarness } from '@holdfast/conformance';
import { FAILED_BY_DESIGN } from '@holdfast/conformance/test';
import { describe, expect, test } from 'vitest';
import { newPrefix, testServer } from './support/harness.ts';
import { LEASE_SECONDS, openPolling } from './support/polling.ts';

const server = testServer();
const worker = new URL('children/poll.ts', import.meta.url);

/** Engines on one server, each under a prefix of its own. */
function serverHarness(): EngineHarness {
  let prefix = '';
  const reopen: CreateEngine = async (clock) => openPolling(server.client, prefix, clock);
  const create: CreateEngine = (clock) => {
    prefix = newPrefix();
    return reopen(clock);
  };
  const processes = () => fork(worker, [String(server.port), prefix], { execArgv: process.execArgv });
  return { create, reopen, processes, lockSeconds: LEASE_SECONDS, turnMilliseconds: 5, limitSeconds: 120 };
}

const passed = engineTests(serverHarness()).filter(({ name, skip }) => !skip && !(name in FAILED_BY_DESIGN));
const inProcesses = passed.filter(({ name }) => name.startsWith('processes:'));

/** Runs a case with a harness of its own, because cases run at the same time. */
function runAlone(name: string): Promise<void> {
  const found = engineTests(serverHarness()).find((one) => one.name === name);
  return found === undefined ? Promise.reject(new Error(`No case "${name}".`)) : found.run();
}

describe('PollingEngine on a Redis server, with a channel', { timeout: 120_000 }, () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.concurrent.for(passed)('$name', ({ name }) => runAlone(name));

  test('the cases with processes are not skipped', () => {
    expect(inProcesses).toHaveLength(10);
  });
});
