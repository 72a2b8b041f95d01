import {
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  StoreUnavailableError,
  MemorySessionStore,
} from '@holdfast/core';
import type { SeenWorker } from '@holdfast/core/store';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { settled } from '../../support/durable-world.ts';

const definition = { name: 'helper' };

/** A worker on a store that a test can take down, and a list of its announcements. */
function world(script: readonly string[] = []) {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const announced: number[] = [];
  const announce = store.announce.bind(store);
  const down = { isDown: false, until: Promise.resolve() };
  store.announce = async (worker, seconds) => {
    announced.push(seconds);
    await down.until;
    if (down.isDown) throw new StoreUnavailableError('down', { isAmbiguous: true });
    await announce(worker, seconds);
  };
  const agents = { helper: createAgentLoop({ driver: scriptedDriver(...script), clock }) };
  const runtime = new SessionRuntime({ store, agents, clock, workerName: 'host-7' });
  const pass = async (seconds: number): Promise<void> => {
    clock.advance(seconds * 1_000);
    await settled();
  };
  const workers = (): Promise<readonly SeenWorker[]> => store.workers();
  return { clock, store, announced, down, runtime, pass, workers };
}

test('a worker is listed at once, again and again, until it stops', async () => {
  const { store, runtime, announced, pass, workers } = world();
  const stop = await runtime.announce(store);
  const workerName = expect.stringMatching(/^host-7\/[\w-]+$/) as string;
  expect(await workers()).toEqual([{ workerName, since: 1_000, sessionIds: [], seenAt: 1_000 }]);
  await pass(29);
  expect(announced).toEqual([90]);
  await pass(1);
  expect((await workers())[0]).toMatchObject({ since: 1_000, seenAt: 31_000 });
  for (let times = 0; times < 10; times++) await pass(30);
  expect([announced, (await workers()).length]).toEqual([Array(12).fill(90), 1]);
  await stop();
  expect([await workers(), announced.at(-1)]).toEqual([[], 0]);
  await pass(300);
  expect(announced).toHaveLength(13);
});

test('a worker that dies is listed for three times as long as it announces itself', async () => {
  const { store, runtime, down, pass, workers } = world();
  await runtime.announce(store, { everySeconds: 10 });
  down.until = new Promise(() => undefined); // nothing of it arrives any more
  await pass(29.999);
  expect(await workers()).toHaveLength(1);
  await pass(0.001);
  expect(await workers()).toEqual([]);
});

test('the sessions that the worker has claimed are listed, and no others', async () => {
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const seen: (readonly string[])[] = [];
  const driver = scriptedDriver(async () => {
    clock.advance(30_000);
    await settled();
    seen.push((await store.workers())[0]?.sessionIds ?? []);
    return 'Done.';
  });
  const agents = { helper: createAgentLoop({ driver }) };
  const runtime = new SessionRuntime({ store, agents, clock, leaseSeconds: 3_600 });
  for (const sessionId of ['a', 'b']) await runtime.create({ definition, sessionId });
  const stop = await runtime.announce(store);
  await runtime.execute('b', sendMessage('Hello'));
  expect(seen).toEqual([['b']]);
  clock.advance(30_000);
  await settled();
  expect((await store.workers()).map(({ sessionIds }) => sessionIds)).toEqual([[]]);
  await stop();
});

test('a store that is down at the start is reported, and later it is waited for', async () => {
  const { store, runtime, down, announced, pass, workers } = world();
  down.isDown = true;
  await expect(runtime.announce(store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await pass(300);
  expect(announced).toEqual([90]);
  down.isDown = false;
  const stop = await runtime.announce(store);
  down.isDown = true;
  await pass(30);
  await pass(30);
  await pass(30);
  expect([await workers(), announced.length]).toEqual([[], 5]);
  down.isDown = false;
  await pass(30);
  expect(await workers()).toMatchObject([{ since: 301_000 }]);
  down.isDown = true;
  await stop(); // the store lists it until its time is over
});

test('an announcement on its way when the worker stops does not list it again', async () => {
  const { store, runtime, down, pass, workers, announced } = world();
  const stop = await runtime.announce(store);
  const arrival = deferred();
  down.until = arrival.promise;
  await pass(30);
  const stopped = stop();
  await settled();
  expect(announced).toEqual([90, 90]); // the end waits for it
  down.until = Promise.resolve();
  arrival.resolve();
  await stopped;
  expect([await workers(), announced]).toEqual([[], [90, 90, 0]]);
  await pass(300);
  expect(announced).toHaveLength(3);
});

test('the store of one owner does not take an announcement', async () => {
  const { runtime } = world();
  const ada = runtime.for('ada');
  await expect(ada.announce(ada.store as never)).rejects.toMatchObject({
    code: 'ARGUMENT_INVALID',
    message: expect.stringContaining('must be a session store of all owners') as string,
  });
});

test('two processes with one name are both listed', async () => {
  const { store, runtime, workers } = world();
  const [stop, stopOther] = await Promise.all([runtime.announce(store), runtime.announce(store)]);
  expect(await workers()).toHaveLength(2);
  await stop();
  expect(await workers()).toHaveLength(1);
  await stopOther();
  expect(await workers()).toEqual([]);
});
