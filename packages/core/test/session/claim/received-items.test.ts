import {
  changeStatus,
  createAgentLoop,
  MemorySessionStore,
  RunAbort,
  sendMessage,
  SessionBusyError,
  SessionRuntime,
  type AgentSession,
  type SessionStore,
} from '@holdfast/core';
import { MemorySessionChannel, type ChannelNotification } from '@holdfast/core/channel';
import type { SaveOptions } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { deferred, driverOf } from '../../support/builders.ts';
import {
  call,
  definition,
  diesInTool,
  settled,
  takeOver,
  userTexts,
  world,
} from '../../support/durable-world.ts';

describe('the inbox', () => {
  test('an item that is read again during the save that uses it is used once', async () => {
    class SlowStore extends MemorySessionStore {
      gate: Promise<unknown> | undefined;
      saving = deferred();
      override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
        if (options?.acknowledge?.length) {
          this.saving.resolve();
          await this.gate;
        }
        return super.save(session, options);
      }
    }
    const made = world();
    const store = new SlowStore({ clock: made.clock });
    const gate = deferred();
    store.gate = gate.promise;
    const runtime = made.process([call(1), 'One.', 'Two.'], { store });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello.' });
    const running = runtime.advance(sessionId);
    await store.saving.promise;
    made.clock.advance(10_000);
    await settled();
    gate.resolve();
    await running;
    expect(userTexts(await runtime.get(sessionId))).toEqual(['Hello.']);
  });

  test.each([
    [
      'is read once by the worker whose claim has read it, although its notification comes after the claim',
      true,
      0,
    ],
    ['is read again for a notification without its id', false, 1],
  ])('an item %s', async (_, hasId, renewals) => {
    const made = world();
    class LateChannel extends MemorySessionChannel {
      override onNotification(id: string, listener: (notification: ChannelNotification) => void): () => void {
        setImmediate(() => listener({ type: 'look', ...(hasId && { itemId: 'i1' }) }));
        return super.onNotification(id, listener);
      }
    }
    let renewed = 0;
    const renew: SessionStore['renew'] = (...args) => (renewed++, made.store.renew(...args));
    const store: SessionStore = Object.assign(Object.create(made.store) as SessionStore, { renew });
    const driver = driverOf(async () => {
      await settled();
      await settled();
      return { content: [{ type: 'text', text: 'One.' }] };
    });
    const agents = { payer: createAgentLoop({ driver, clock: made.clock }) };
    const runtime = new SessionRuntime({ store, agents, clock: made.clock, channel: new LateChannel() });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello.' }, { id: 'i1' });
    await runtime.advance(sessionId);
    expect(renewed).toBe(renewals);
    expect(userTexts(await runtime.get(sessionId))).toEqual(['Hello.']);
  });

  test.each([
    ['a decision without a call', { type: 'decision', toolExecutionId: 'x', decision: 'approved' }],
    ['a stop without an execution', { type: 'stop' }],
    ['nonsense', 'nonsense'],
  ])('%s is ignored and removed', async (_, content) => {
    const made = world();
    const runtime = made.process([]);
    const { sessionId } = await runtime.create({ definition });
    await made.store.enqueue(sessionId, { id: 'i1', content });
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect((await made.store.due()).sessions).toEqual([]);
    expect(made.events.filter(({ type }) => type === 'inbox-item-ignored')).toHaveLength(1);
  });

  test('a stop request during a yield stops the next run', async () => {
    const [gate, reached] = [deferred<string>(), deferred()];
    const made = world({ act: () => (reached.resolve(), gate.promise) });
    const leaving = new AbortController();
    const runtime = made.process([call(1)]);
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const running = runtime.advance(sessionId, { signal: leaving.signal });
    await reached.promise;
    leaving.abort(new RunAbort('yield'));
    await runtime.enqueue(sessionId, { type: 'stop', reason: 'Enough.' });
    made.clock.advance(10_000);
    await settled();
    gate.resolve('paid');
    expect(await running).toMatchObject({ outcome: { type: 'yield' } });
    await made.process(['Never.']).advance(sessionId);
    const { state } = await runtime.get(sessionId);
    expect([state.status, state.stopSignal?.message]).toEqual(['stopped', 'Enough.']);
  });

  test('a stop request after a message stops the execution', async () => {
    const made = await diesInTool({});
    takeOver(made);
    const runtime = made.process(['Never.']);
    await runtime.enqueue(made.sessionId, { type: 'message', content: 'And?' });
    await runtime.enqueue(made.sessionId, { type: 'stop', reason: 'Enough.' });
    await runtime.advance(made.sessionId);
    const { state } = await runtime.get(made.sessionId);
    expect([state.status, state.stepCount]).toEqual(['stopped', 1]);
  });

  test('a message after a stop request gets a response', async () => {
    const made = await diesInTool({});
    takeOver(made);
    const runtime = made.process(['Hello.']);
    await runtime.enqueue(made.sessionId, { type: 'stop', reason: 'Enough.' });
    await runtime.enqueue(made.sessionId, { type: 'message', content: 'And?' });
    await runtime.advance(made.sessionId);
    expect((await runtime.get(made.sessionId)).state.finalResponse).toBe('Hello.');
  });

  test('a session that becomes suspended keeps its inbox, and its claim is released', async () => {
    const made = world();
    const runtime = made.process(['Hi.']);
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello.' });
    await runtime.execute(sessionId, changeStatus('suspended'));
    expect(await runtime.advance(sessionId)).toMatchObject({ outcome: { type: 'finished' } });
    expect(userTexts(await runtime.get(sessionId))).toEqual([]);
    await runtime.execute(sessionId, changeStatus('active'));
    await runtime.advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Hi.');
  });

  test('only a claim makes a session busy', async () => {
    const made = world();
    const busy = new SessionBusyError('other', 'somebody', 1);
    const runtime = made.process([], { hooks: { beforeSave: () => Promise.reject(busy) } });
    const { sessionId } = await made.process([]).create({ definition });
    await expect(runtime.execute(sessionId, sendMessage('Hello.'))).rejects.toBe(busy);
    expect((await made.store.claim(sessionId, { workerId: 'me', leaseSeconds: 1 })).inbox).toEqual([]);
  });
});
