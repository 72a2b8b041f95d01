import { spawn } from 'node:child_process';
import {
  driverTests,
  engineTests,
  sessionStoreCosts,
  sessionStoreTests,
  type ConformanceTest,
  type CreateStore,
} from '@holdfast/conformance';
import { InProcessEngine, MemorySessionStore, type SessionStore } from '@holdfast/core';
import { describe, expect, test } from 'vitest';

const forever = (): Promise<never> => new Promise(() => undefined);
const limitSeconds = 0.01;
/** A case with this limit would take ten minutes to fail. */
const enough = 600;

function runOf(tests: readonly ConformanceTest[], name: string): () => Promise<void> {
  const [found] = tests.filter((one) => one.name === name);
  if (!found) throw new Error(`No case has the name "${name}".`);
  return found.run;
}

interface Created {
  readonly create: CreateStore;
  /** The stores that were closed. */
  readonly closed: SessionStore[];
}

/** Creates stores with some methods replaced. */
function storesWith(changes: Partial<SessionStore>, close = async () => undefined): Created {
  const closed: SessionStore[] = [];
  return {
    closed,
    async create(clock, settings) {
      const store = Object.assign(new MemorySessionStore({ clock, ...settings }), changes);
      return {
        store,
        close() {
          closed.push(store);
          return close();
        },
      };
    },
  };
}

const CREATION = 'writes: create saves version 0 as version 1';
const CALLS = 'conversations: calls and results of the conversation are sent in order';
const WAKE = 'failures: a session whose advance threw can be woken again';
const PROCESS = 'processes: a wake-up survives a process that dies as soon as wake has resolved';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('a case that takes too long', () => {
  test('fails, and names the operation in progress and what to look at', async () => {
    const { create, closed } = storesWith({ create: forever });
    const run = runOf(sessionStoreTests({ create, limitSeconds }), CREATION);
    await expect(run()).rejects.toThrow(
      `"${CREATION}" is unfinished after 0.01 seconds, during store.create. Look for a promise that never resolves, ` +
        'a connection that is not returned to its pool, and a lock that is not released. ' +
        'If the storage or the machine is slow, set limitSeconds of the harness.',
    );
    expect(closed).toHaveLength(1);
  });

  test.each<readonly [what: string, tests: () => readonly ConformanceTest[], name: string, during: string]>([
    [
      'a driver that never answers',
      () =>
        driverTests({
          limitSeconds,
          create: async () => ({
            driver: Object.freeze({ infer: forever }),
            requests: () => [],
            close: async () => undefined,
          }),
        }),
      CALLS,
      'during driver.infer.',
    ],
    [
      'an engine that never keeps a wake-up',
      () =>
        engineTests({
          limitSeconds,
          turnMilliseconds: 600_000,
          create: async () => {
            const engine = new InProcessEngine();
            return { engine: Object.assign(engine, { wake: forever }), close: async () => undefined };
          },
        }),
      WAKE,
      'during engine.wake.',
    ],
    [
      'a worker that never stops',
      () =>
        engineTests({
          limitSeconds,
          turnMilliseconds: 600_000,
          create: async () => {
            const serve = async () => ({ stop: forever });
            return { engine: { wake: async () => undefined, serve }, close: async () => undefined };
          },
        }),
      'stops: a stop of an idle worker resolves, and so does a second stop',
      'during worker.stop.',
    ],
    [
      'a harness that creates nothing',
      () => sessionStoreTests({ create: forever, limitSeconds }),
      CREATION,
      'during harness.create.',
    ],
    [
      'a store whose close never resolves',
      () => sessionStoreTests({ create: storesWith({}, forever).create, limitSeconds }),
      CREATION,
      'during close of the store.',
    ],
  ])('fails: of %s', async (_, tests, name, during) => {
    await expect(runOf(tests(), name)()).rejects.toThrow(during);
  });

  test('fails: of a worker process that is never ready, and kills the process', async () => {
    const exited = Promise.withResolvers<string | null>();
    const tests = engineTests({
      limitSeconds,
      create: async () => ({ engine: new InProcessEngine(), close: async () => undefined }),
      processes() {
        const program = ['--eval', 'setInterval(() => undefined, 1_000)'];
        const worker = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
        return worker.on('exit', (_, signal) => exited.resolve(signal));
      },
    });
    await expect(runOf(tests, PROCESS)()).rejects.toThrow(
      'during the start of a worker process, which must call runWorkerProcess.',
    );
    await expect(exited.promise).resolves.toBe('SIGKILL');
  });

  test('fails: the measurement of costs', async () => {
    const { create } = storesWith({ create: forever });
    const measure = async () => ({ requests: 0, bytes: 0 });
    await expect(sessionStoreCosts({ create, measure, limitSeconds })).rejects.toThrow('during store.create');
  });
});

describe('a case that ends in time', () => {
  test('closes its store and leaves no timer', async () => {
    const before = timers();
    const { create, closed } = storesWith({});
    await runOf(sessionStoreTests({ create, limitSeconds: enough }), CREATION)();
    expect(closed).toHaveLength(1);
    expect(timers()).toBe(before);
  });

  test('closes its store when it fails, and rejects with its own error', async () => {
    const close = () => Promise.reject(new Error('The connection was closed.'));
    const failing = storesWith({ exists: async () => true }, close);
    const name = 'writes: a missing session is not loaded and does not exist';
    const run = runOf(sessionStoreTests({ create: failing.create, limitSeconds: enough }), name);
    await expect(run()).rejects.toThrow('expected false, found true');
    expect(failing.closed).toHaveLength(1);
  });

  test('fails when its store cannot be closed', async () => {
    const { create } = storesWith({}, () => Promise.reject(new Error('The connection was closed.')));
    const run = runOf(sessionStoreTests({ create, limitSeconds: enough }), CREATION);
    await expect(run()).rejects.toThrow('The connection was closed.');
  });
});
