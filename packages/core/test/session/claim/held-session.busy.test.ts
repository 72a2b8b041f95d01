import { changeModel, sendMessage, type ExecuteOptions, type SessionAction } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { definition, settled, userTexts, world } from '../../support/durable-world.ts';

const LEASE_SECONDS = 30;

/** A session that somebody has claimed, and somebody else who wants it. */
async function claimed(action: SessionAction, options: ExecuteOptions) {
  const made = world();
  const runtime = made.process(['Done.']);
  const { sessionId } = await runtime.create({ definition });
  const { claim } = await made.store.claim(sessionId, { workerId: 'other', leaseSeconds: LEASE_SECONDS });
  const asked = made.clock.now();
  const done = runtime.execute(sessionId, action, options).then(
    ({ state }) => ({ text: state.finalResponse, model: state.llmConfig?.model }),
    (error: unknown) => error,
  );
  const over = { isOver: false };
  void done.then(() => (over.isOver = true));
  /** Lets time go by until it is over: the seconds that took. */
  const elapse = async (longest: number): Promise<number> => {
    for (await settled(); !over.isOver && made.clock.now() < asked + longest * 1000; await settled())
      made.clock.advance(25);
    return (made.clock.now() - asked) / 1000;
  };
  return { ...made, sessionId, claim, done, elapse, isOver: () => over.isOver };
}

describe('a caller that waits for a session', () => {
  test.each([
    ['sendMessage', sendMessage('Go.'), { text: 'Done.' }],
    ['changeModel', changeModel({ model: 'other' }), { model: 'other' }],
  ])('gets it for %s as soon as the claim of a dead process has expired', async (_, action, wanted) => {
    const { elapse, done } = await claimed(action, { waitSeconds: 60 });
    expect(await elapse(60)).toBeCloseTo(LEASE_SECONDS, 1);
    expect(await done).toMatchObject(wanted);
  });

  test('gets it within a second after the other worker has released it', async () => {
    const { clock, elapse, done, store, claim } = await claimed(sendMessage('Go.'), { waitSeconds: 20 });
    await elapse(10);
    await store.release(claim);
    expect(await elapse(11.1)).toBeLessThanOrEqual(11);
    expect(await done).toMatchObject({ text: 'Done.' });
    expect(clock.now()).toBeLessThan(1_000_000 + LEASE_SECONDS * 1000);
  });

  test('waits no longer than waitSeconds, and then changes nothing', async () => {
    const options = { waitSeconds: 5, whenBusy: 'refuse' } as const;
    const { elapse, done, store, sessionId } = await claimed(sendMessage('Go.'), options);
    expect(await elapse(60)).toBe(5);
    expect(await done).toMatchObject({ code: 'SESSION_BUSY', workerId: 'other' });
    const session = await store.load(sessionId);
    expect(session && userTexts(session)).toEqual([]);
  });

  test('enqueues its message after the wait', async () => {
    const { elapse, store, claim } = await claimed(sendMessage('Go.'), { waitSeconds: 5 });
    expect(await elapse(60)).toBe(5);
    const { inbox } = await store.renew(claim, { leaseSeconds: LEASE_SECONDS });
    expect(inbox.map(({ content }) => content)).toEqual([{ type: 'message', content: 'Go.' }]);
  });

  test('stops waiting when its signal aborts', async () => {
    const controller = new AbortController();
    const options = { waitSeconds: 20, whenBusy: 'refuse', signal: controller.signal } as const;
    const { elapse, done, isOver } = await claimed(sendMessage('Go.'), options);
    await elapse(3);
    expect(isOver()).toBe(false);
    controller.abort();
    expect(await elapse(20)).toBe(3);
    expect(await done).toMatchObject({ code: 'SESSION_BUSY' });
  });

  test.each([-1, Number.NaN, Infinity, '5'])('is refused waitSeconds %s', async (waitSeconds) => {
    const { done } = await claimed(sendMessage('Go.'), { waitSeconds: waitSeconds as number });
    expect(await done).toMatchObject({
      code: 'ARGUMENT_INVALID',
      message: expect.stringMatching(/^waitSeconds/),
    });
  });

  test('pauses between attempts when the clock of the store is behind its own', async () => {
    const { clock, store, process } = world();
    const ahead = { ...clock, now: () => clock.now() + 3_600_000 };
    const runtime = process(['Done.'], { clock: ahead });
    const { sessionId } = await runtime.create({ definition });
    await store.claim(sessionId, { workerId: 'other', leaseSeconds: LEASE_SECONDS });
    let claims = 0;
    const claim = store.claim.bind(store);
    store.claim = (...args) => (claims++, claim(...args));
    const options = { waitSeconds: 5, whenBusy: 'refuse' } as const;
    const done = runtime.execute(sessionId, sendMessage('Go.'), options).catch((error: unknown) => error);
    for (let elapsed = 0; elapsed < 5_000; elapsed += 5) {
      await settled();
      clock.advance(5);
    }
    expect(await done).toMatchObject({ code: 'SESSION_BUSY' });
    expect(claims).toBeLessThanOrEqual(5_000 / 25 + 2);
  });

  test('enqueues nothing when its signal aborts', async () => {
    const controller = new AbortController();
    const options = { waitSeconds: 20, signal: controller.signal };
    const { elapse, done, store, claim } = await claimed(sendMessage('Go.'), options);
    await elapse(3);
    controller.abort();
    expect(await done).toMatchObject({ code: 'SESSION_BUSY' });
    expect((await store.renew(claim, { leaseSeconds: LEASE_SECONDS })).inbox).toEqual([]);
  });

  test('does not wait by default', async () => {
    const { done, clock } = await claimed(sendMessage('Go.'), { whenBusy: 'refuse' });
    expect(await done).toMatchObject({ code: 'SESSION_BUSY' });
    expect(clock.now()).toBe(1_000_000);
  });
});
