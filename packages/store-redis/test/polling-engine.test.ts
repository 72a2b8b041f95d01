import { fork } from 'node:child_process';
import type { CreateEngine, EngineHarness } from '@holdfast/conformance';
import { testPollingEngine } from '@holdfast/conformance/vitest';
import { describe } from 'vitest';
import { newPrefix, testServer } from './support/harness.ts';
import { openPolling } from './support/polling.ts';

const server = testServer();
const worker = new URL('children/poll.ts', import.meta.url);

/** Engines on one server, each under a prefix of its own. */
function serverHarness(leaseSeconds: number): EngineHarness {
  let prefix = '';
  const reopen: CreateEngine = async (clock) => openPolling(server.client, prefix, clock, leaseSeconds);
  const create: CreateEngine = (clock) => {
    prefix = newPrefix();
    return reopen(clock);
  };
  const processes = () => fork(worker, [String(server.port), prefix], { execArgv: process.execArgv });
  return { create, reopen, processes, lockSeconds: leaseSeconds, turnMilliseconds: 5, limitSeconds: 120 };
}

describe('PollingEngine on a Redis server, with a channel', () => {
  testPollingEngine(serverHarness);
});
