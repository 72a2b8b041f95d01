import assert from 'node:assert/strict';
import {
  assertLooksAt,
  engineCase,
  type EngineContext,
  type UngroupedEngineCase,
} from '../case/engine-case.ts';
import { SUSPENDED, YIELD, type Act } from '../case/recorded-advances.ts';
import type { RemoteWorker } from '../case/remote-worker.ts';

const processCase = (name: string, act: (context: EngineContext) => Promise<void>): UngroupedEngineCase =>
  engineCase(name, act, { needs: 'processes' });

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `session ${index}`);

/** An advance that never ends. */
const endless: Act = () => new Promise(() => undefined);

/** Starts a worker process, and waits until it works on "a". Its advance is `act`. */
async function workingProcess(context: EngineContext, act: Act): Promise<RemoteWorker> {
  const worker = await context.startProcess();
  await worker.serve(act, 1);
  await context.engine.wake('a');
  await context.until('the advance of "a" has started', () => context.looks('a').length > 0);
  return worker;
}

const wakeUps = [
  processCase('a wake-up survives a process that dies as soon as wake has resolved', async (context) => {
    const { startProcess, serve, looks, until } = context;
    const process = await startProcess();
    await process.wakeAndDie('a');
    await serve();
    await until('"a" is advanced', () => looks('a').length > 0);
  }),
  processCase('an instant survives a process that dies as soon as wake has resolved', async (context) => {
    const { startProcess, serve, clock, soon } = context;
    const [first, second] = await Promise.all([startProcess(), startProcess()]);
    const at = clock.now() + soon;
    await first.wakeAndDie('a', { at });
    await second.wakeAndDie('a', { at: at + soon });
    await serve();
    await assertLooksAt(context, 'a', at);
    await assertLooksAt(context, 'a', at + soon, 1);
  }),
  processCase('processes never advance a session at the same time, and drop no wake-up', async (context) => {
    const { startProcess, engine, serve, until, turn } = context;
    const workers = await Promise.all([startProcess(), startProcess()]);
    const [last, seen] = [new Set<string>(), new Set<string>()];
    const act: Act = async ({ sessionId }) => {
      const isLast = last.has(sessionId);
      await turn();
      if (isLast) seen.add(sessionId);
      return SUSPENDED;
    };
    for (const worker of workers) await worker.serve(act, 4);
    await serve(act, 4);
    for (let round = 0; round < 5; round++) {
      if (round === 4) for (const id of names(20)) last.add(id);
      const wakes = names(20).flatMap((id) => [engine, ...workers].map((one) => one.wake(id)));
      await Promise.all(wakes);
    }
    await until('every session is advanced after its last wake-up', () => seen.size === 20);
  }),
];

const deaths = [
  processCase('the session of a killed worker is advanced by another', async (context) => {
    const { serve, clock, lock, looks, until } = context;
    const worker = await workingProcess(context, endless);
    await serve();
    worker.kill();
    await clock.pass(lock);
    await until('"a" is advanced again', () => looks('a').length > 1);
  }),
  processCase('every session of two killed workers is advanced to its end', async (context) => {
    const { startProcess, engine, serve, clock, lock, looks, until, turn } = context;
    const workers = await Promise.all([startProcess(), startProcess()]);
    const ended = new Set<string>();
    const act: Act = async ({ sessionId }) => {
      await turn();
      if (looks(sessionId).length <= 5) return YIELD;
      ended.add(sessionId);
      return SUSPENDED;
    };
    for (const worker of workers) await worker.serve(act, 3);
    await serve(act, 3);
    for (const id of names(20)) await engine.wake(id);
    for (const [index, worker] of workers.entries()) {
      await until('the sessions make progress', () => looks().length >= 20 * (index + 1));
      worker.kill();
    }
    await clock.pass(lock);
    await until('all sessions have ended', () => ended.size === 20);
  }),
  processCase('a worker that stops in time leaves its sessions at once', async (context) => {
    const { serve, looks, until, gate } = context;
    const end = gate();
    const worker = await workingProcess(context, () => end.promise.then(() => YIELD));
    const stop = worker.stop();
    await until('the signal aborts', () => looks('a')[0]?.signal?.aborted === true);
    end.resolve();
    await stop;
    await serve();
    await until('"a" is advanced again', () => looks('a').length > 1);
  }),
  processCase('a worker that stops too late and exits leaves its sessions to another', async (context) => {
    const { serve, clock, lock, looks, until, ended } = context;
    const worker = await workingProcess(context, endless);
    await ended('stop resolves', worker.stop(0.05));
    worker.kill();
    await serve();
    await clock.pass(lock);
    await until('"a" is advanced again', () => looks('a').length > 1);
  }),
];

interface Takeover {
  /** Ends the first advance of "a", in the process that was frozen. Its worker then takes another session. */
  readonly endFirst: () => void;
  /** Ends the second advance of "a", in this process. */
  readonly endSecond: () => void;
}

/** Freezes a process in its advance of "a" until a worker in this process has taken the session, and thaws it. */
async function takeOver(context: EngineContext): Promise<Takeover> {
  const { serve, clock, lock, looks, until, gate } = context;
  const [first, second] = [gate(), gate()];
  const frozen = await workingProcess(context, () => first.promise.then(() => SUSPENDED));
  frozen.freeze();
  await serve(() => second.promise.then(() => SUSPENDED));
  await clock.pass(lock);
  await until('another worker has taken the session', () => looks('a').length > 1);
  frozen.thaw();
  return { endFirst: first.resolve, endSecond: second.resolve };
}

const locks = [
  processCase('a long advance in a process keeps its session', async (context) => {
    const { serve, clock, lock, looks, quiet } = context;
    await workingProcess(context, endless);
    await serve();
    await clock.pass(2 * lock);
    await quiet();
    assert.equal(looks('a').length, 1, 'Another worker has taken the session.');
    assert.equal(looks('a')[0]?.signal?.aborted, false, 'The engine has aborted the advance.');
  }),
  processCase('the signal of an advance aborts when its worker has lost the session', async (context) => {
    const { clock, lock, looks, until } = context;
    await takeOver(context);
    await clock.pass(lock);
    await until('the signal of the first advance aborts', () => looks('a')[0]?.signal?.aborted === true);
    assert.equal(looks('a')[1]?.signal?.aborted, false);
  }),
  processCase('a worker that has lost a session does not end the lock of the next', async (context) => {
    const { engine, clock, lock, looks, until, quiet } = context;
    const { endFirst, endSecond } = await takeOver(context);
    endFirst();
    await engine.wake('a');
    await clock.pass(lock);
    await quiet();
    assert.equal(looks('a').length, 2, 'A third advance has started during the second.');
    endSecond();
    await until('"a" is advanced after its wake-up', () => looks('a').length > 2);
  }),
];

/** Workers in processes that die and freeze. */
export const processCases: readonly UngroupedEngineCase[] = [...wakeUps, ...deaths, ...locks];
