import { sendMessage, type SessionEvent } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { call, definition, settled, untilAborted, world } from '../../support/durable-world.ts';

const reasons = (events: readonly SessionEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'inbox-item-ignored' ? [event.reason] : []));

describe('a stop that names an execution', () => {
  test('and arrives during the run of the next one aborts nothing, and is ignored', async () => {
    const [reached, gate] = [deferred(), deferred<string>()];
    let isAborted = false;
    const made = world({
      act: ({ signal }) => {
        signal.addEventListener('abort', () => (isAborted = true));
        reached.resolve();
        return gate.promise;
      },
    });
    const runtime = made.process(['First.', call(1), 'Second.']);
    const { sessionId } = await runtime.create({ definition });
    const first = await runtime.execute(sessionId, sendMessage('One.'));
    const running = runtime.execute(sessionId, sendMessage('Two.'));
    await reached.promise;
    await runtime.enqueue(sessionId, { type: 'stop', executionId: first.state.executionId as string });
    made.clock.advance(10_000); // the heartbeat reads the inbox while the tool runs
    await settled();
    gate.resolve('paid');
    const second = await running;
    expect([isAborted, second.state.status, second.state.finalResponse]).toEqual([
      false,
      'completed',
      'Second.',
    ]);
    expect(reasons(made.events)).toEqual(['The stop names an execution that is not active.']);
    expect((await made.store.claim(sessionId, { workerId: 'me', leaseSeconds: 1 })).inbox).toEqual([]);
  });

  test('ends that execution, in the middle of a call', async () => {
    const reached = deferred();
    const made = world({ act: untilAborted(reached) });
    const runtime = made.process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('Go.'));
    await reached.promise;
    const { executionId } = (await runtime.get(sessionId)).state;
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.', executionId: executionId as string });
    made.clock.advance(10_000);
    await settled();
    expect((await running).state.stopSignal?.message).toBe('Enough.');
    expect(reasons(made.events)).toEqual([]);
  });

  test('ends an execution that an action began without a message, in the middle of a call', async () => {
    const reached = deferred();
    const made = world({ act: untilAborted(reached) });
    const runtime = made.process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, (session, context) =>
      context.run(session.withState(session.state.withUserMessage('Go.'))),
    );
    await reached.promise;
    const { executionId } = (await runtime.get(sessionId)).state;
    await runtime.enqueue(sessionId, { type: 'stop', executionId: executionId as string });
    made.clock.advance(10_000);
    await settled();
    expect((await running).state.status).toBe('stopped');
  });

  test.each([
    ['without an execution', []],
    ['with another execution', ['First.']],
  ])('is ignored by a session %s', async (_, script) => {
    const made = world();
    const runtime = made.process(script);
    const { sessionId } = await runtime.create({ definition });
    if (script.length > 0) await runtime.execute(sessionId, sendMessage('One.'));
    const { version } = await runtime.get(sessionId);
    await runtime.enqueue(sessionId, { type: 'stop', executionId: 'another' });
    await runtime.advance(sessionId);
    expect(reasons(made.events)).toEqual(['The session has no active execution.']);
    expect((await runtime.get(sessionId)).version).toBe(version + 1); // the item was removed
  });

  test('before a message does not end the execution of the message', async () => {
    const made = world();
    const runtime = made.process(['First.', 'Second.']);
    const { sessionId } = await runtime.create({ definition });
    const first = await runtime.execute(sessionId, sendMessage('One.'));
    await runtime.enqueue(sessionId, { type: 'message', content: 'Two.' });
    await runtime.enqueue(sessionId, { type: 'stop', executionId: first.state.executionId as string });
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Second.');
  });
});
