import { RunAbort } from '@holdfast/core';
import { IsolatedProcess, serveIsolated, type IsolatedProcessOptions } from '@holdfast/core/engine';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { unhandledRejections } from '../../support/unhandled-rejections.ts';

const unhandled = unhandledRejections();
const program = new URL('../../support/isolated-worker.ts', import.meta.url);
const execArgv = ['--conditions=@holdfast/source'];
const started: IsolatedProcess[] = [];

function isolatedProcess(
  module: URL | string = program,
  options: IsolatedProcessOptions = {},
): IsolatedProcess {
  const isolated = new IsolatedProcess(module, { execArgv, ...options });
  started.push(isolated);
  return isolated;
}

afterEach(async () => {
  for (const isolated of started.splice(0)) await isolated.stop();
});

describe('an isolated process', () => {
  test('advances sessions with their options, in one process of its own', async () => {
    const { advance } = isolatedProcess();
    const first = await advance('a', { maxSteps: 1, suspects: 'alone' });
    expect(first).toEqual({
      outcome: { type: 'finished' },
      wake: [expect.not.stringMatching(`^${process.pid}$`), '{"maxSteps":1,"suspects":"alone"}'],
    });
    expect((await advance('b')).wake[0]).toBe(first.wake[0]);
  });

  test('yields when the signal aborts, also before the call', async () => {
    const { advance } = isolatedProcess();
    const controller = new AbortController();
    const waiting = advance('wait', { signal: controller.signal });
    controller.abort(new RunAbort('yield'));
    expect((await waiting).outcome).toEqual({ type: 'yield' });
    expect((await advance('wait', { signal: controller.signal })).outcome).toEqual({ type: 'yield' });
  });

  test('passes errors on with their codes', async () => {
    const { advance } = isolatedProcess();
    await expect(advance('throw')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: 'The store does not reply.',
    });
    expect((await advance('fail')).error).toMatchObject({ code: 'AGENT_NOT_FOUND', message: 'No agent.' });
  });

  test('that dies rejects its advances, and the next session gets another process', async () => {
    const { advance } = isolatedProcess();
    const first = await advance('a');
    const waiting = advance('wait');
    const dying = advance('die');
    const ended = expect.objectContaining({ code: 'ISOLATED_PROCESS_ENDED' });
    await expect(dying).rejects.toEqual(ended);
    await expect(waiting).rejects.toMatchObject({ data: { sessionId: 'wait', reason: 'SIGKILL' } });
    expect((await advance('a')).wake[0]).not.toBe(first.wake[0]);
  });

  // A process without its channel also ends by itself: the worker may kill it before, or find it gone.
  test.each([
    ['that stands still is killed', 'block', /^SIGKILL$/],
    ['without its channel ends', 'disconnect', /^(?:SIGKILL|exit code 0)$/],
  ])('%s', async (_, sessionId, reason) => {
    const { advance } = isolatedProcess(program, { silentSeconds: 2 });
    const first = await advance('a');
    const data = { sessionId, reason: expect.stringMatching(reason) };
    await expect(advance(sessionId)).rejects.toMatchObject({ data });
    expect((await advance('a')).wake[0]).not.toBe(first.wake[0]);
  });

  test('that works is not killed, however long it takes', async () => {
    const { advance } = isolatedProcess(program, { silentSeconds: 4 });
    await advance('a');
    const controller = new AbortController();
    const waiting = advance('wait', { signal: controller.signal });
    await setTimeout(4_500); // longer than the limit: the signs of life count
    controller.abort(new RunAbort('yield'));
    expect((await waiting).outcome).toEqual({ type: 'yield' });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('that receives %s yields and ends', async (signal) => {
    const { advance } = isolatedProcess();
    const pid = Number((await advance('a')).wake[0]);
    const waiting = advance('wait');
    await advance('a'); // the process has begun the work before
    process.kill(pid, signal);
    expect((await waiting).outcome).toEqual({ type: 'yield' });
  });

  test('rejects an advance whose options cannot be sent, and can then be stopped', async () => {
    const isolated = isolatedProcess();
    await expect(isolated.advance('a', { maxSteps: 1n as never })).rejects.toThrow('BigInt');
    await isolated.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('that cannot start rejects each advance', async () => {
    const { advance } = isolatedProcess(new URL('no-such-program.ts', program));
    for (const id of ['a', 'b'])
      await expect(advance(id)).rejects.toMatchObject({ data: { reason: 'exit code 1' } });
  });

  test('lets its work yield when it is stopped, and is killed when the work takes too long', async () => {
    const isolated = isolatedProcess();
    await isolated.advance('a');
    const waiting = isolated.advance('wait');
    await isolated.advance('a'); // the process has begun the work before
    await isolated.stop();
    expect((await waiting).outcome).toEqual({ type: 'yield' });
    await isolated.advance('a');
    const [blocked] = await Promise.allSettled([
      isolated.advance('block'),
      isolated.stop({ withinSeconds: 0 }),
    ]);
    expect(blocked).toMatchObject({ reason: { data: { reason: 'SIGKILL' } } });
  });

  test('can be stopped twice, and before it started', async () => {
    const isolated = isolatedProcess();
    await isolated.stop();
    await isolated.advance('a');
    await isolated.stop();
    await expect(isolated.stop()).resolves.toBeUndefined();
  });
});

test.each<readonly [string, () => unknown]>([
  ['no module', () => new IsolatedProcess(undefined as never)],
  ['an unknown option', () => new IsolatedProcess(program, { argv: [] } as never)],
  ['a flag that is no list', () => new IsolatedProcess(program, { execArgv: '--inspect' } as never)],
  ['no advance', () => serveIsolated(undefined as never)],
])('%s is refused', (_, act) => {
  expect(act).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});
