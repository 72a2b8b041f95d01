import assert from 'node:assert/strict';
import { engineCase, type UngroupedEngineCase } from '../case/engine-case.ts';
import { SUSPENDED } from '../case/recorded-advances.ts';

/** Cases whose advance throws. An engine may or may not retry such an advance by itself. */
export const failureCases: readonly UngroupedEngineCase[] = [
  engineCase('an advance that throws stops neither the engine nor other sessions', async (context) => {
    const { engine, serve, looks, until } = context;
    await serve(async ({ sessionId }) => {
      if (sessionId.startsWith('bad')) throw new Error('No.');
      return SUSPENDED;
    }, 1);
    for (const id of ['bad 1', 'good 1', 'bad 2', 'good 2']) await engine.wake(id);
    await until('the other sessions are advanced', () => [1, 2].every((n) => looks(`good ${n}`).length > 0));
    await until('the sessions whose advance throws are advanced', () =>
      [1, 2].every((n) => looks(`bad ${n}`).length > 0),
    );
  }),
  engineCase('a session whose advance threw can be woken again', async (context) => {
    const { engine, serve, looks, until, quiet } = context;
    let isDown = true;
    await serve(async () => {
      if (isDown) throw new Error('No.');
      return SUSPENDED;
    });
    await engine.wake('a');
    await until('"a" is advanced', () => looks('a').length > 0);
    await quiet();
    isDown = false;
    const before = looks('a').length;
    await engine.wake('a');
    await until('"a" is advanced again', () => looks('a').length > before);
  }),
  engineCase('an advance that throws before it returns a promise ends its work', async (context) => {
    const { engine, serve, looks, until, quiet, errors } = context;
    let isDown = true;
    await serve(() => {
      if (isDown) throw new Error('No.');
      return Promise.resolve(SUSPENDED);
    }, 1);
    await engine.wake('a');
    await until('the error is reported', () => errors().length > 0);
    await quiet();
    isDown = false;
    const before = looks('a').length;
    for (const id of ['a', 'b']) await engine.wake(id);
    await until('"a" is advanced again', () => looks('a').length > before);
    await until('"b" is advanced', () => looks('b').length > 0);
  }),
  engineCase('a wake-up during an advance that throws is not dropped', async (context) => {
    const { engine, serve, looks, until, gate } = context;
    const work = gate();
    await serve(async () => {
      if (looks('a').length > 1) return SUSPENDED;
      await work.promise;
      throw new Error('No.');
    });
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    await engine.wake('a');
    work.resolve();
    await until('"a" is advanced again', () => looks('a').length >= 2);
  }),
  engineCase('a stop resolves although an advance throws', async (context) => {
    const { engine, serve, looks, until, ended, gate } = context;
    const work = gate();
    const served = await serve(async () => {
      await work.promise;
      throw new Error('No.');
    });
    await engine.wake('a');
    await until('the advance of "a" has started', () => looks('a').length > 0);
    const stop = served.stop();
    work.resolve();
    assert.equal(await ended('stop resolves', stop), undefined);
  }),
];
