import assert from 'node:assert/strict';
import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type AgentSession,
} from '@holdfast/core';
import {
  SessionWatcher,
  type ChannelEntry,
  type SessionChannel,
  type SessionView,
} from '@holdfast/core/channel';
import type { Driver } from '@holdfast/core/driver';
import { channelCase, type ChannelContext, type UngroupedChannelCase } from './channel-case.ts';

/** A model that writes three words, and responds to each message. It can wait before the last word. */
function writer(isReady: () => Promise<unknown> = async () => undefined): Driver {
  return {
    infer: async (_, { onDelta, signal }) => {
      onDelta?.({ type: 'text', id: '0', text: 'One ' });
      onDelta?.({ type: 'text', id: '0', text: 'two ' });
      const aborted = new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      await Promise.race([isReady(), aborted]);
      const finishReason = signal.aborted ? 'aborted' : 'stop';
      return { content: [{ type: 'text', text: 'One two three' }], finishReason };
    },
  };
}

/** A worker and a reader with a channel each, and a session in a store that both have. */
async function world(context: ChannelContext, driver: Driver) {
  const store = new MemorySessionStore();
  const agents = { a: createAgentLoop({ driver }) };
  const runtimeWith = (channel: SessionChannel): SessionRuntime =>
    new SessionRuntime({ store, agents, channel });
  const elsewhere = await context.reopen();
  const worker = runtimeWith(context.channel);
  const { sessionId } = await worker.create({ definition: { name: 'a' } });
  return { store, worker, elsewhere, caller: runtimeWith(elsewhere), sessionId };
}

/** Watches a session, and records the views. */
function watched(store: MemorySessionStore, channel: SessionChannel, sessionId: string) {
  const abortController = new AbortController();
  const { signal } = abortController;
  const views: SessionView[] = [];
  const read = async (): Promise<void> => {
    for await (const view of new SessionWatcher({ store, channel }).watch(sessionId, { signal }))
      views.push(view);
  };
  const done = read();
  const stop = async (): Promise<void> => {
    abortController.abort();
    await done;
  };
  return { views, stop };
}

function assertShows(view: SessionView | undefined, session: AgentSession | undefined): void {
  assert.deepEqual(view?.session.state.toJSON(), session?.state.toJSON());
  assert.equal(view?.session.version, session?.version);
}

function readerCase(name: string, act: (context: ChannelContext) => Promise<void>): UngroupedChannelCase {
  return channelCase(name, act, 'tail', 'reopen');
}

export const readerCases: readonly UngroupedChannelCase[] = [
  readerCase('a reader in another process sees a response while it is written', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { store, worker, elsewhere, sessionId } = await world(
      context,
      writer(() => gate.promise),
    );
    const { views, stop } = watched(store, elsewhere, sessionId);
    const work = worker.execute(sessionId, sendMessage('Count.'));
    const textOf = (view: SessionView | undefined): string | undefined => view?.partial?.parts[0]?.text;
    await context.until('the text arrives', () => textOf(views.at(-1)) === 'One two ');
    gate.resolve();
    const session = await work;
    await context.until('the save arrives', () => views.at(-1)?.session.version === session.version);
    assertShows(views.at(-1), session);
    await stop();
  }),
  readerCase('a stop reaches the worker in another process before its heartbeat', async (context) => {
    const begun = Promise.withResolvers<void>();
    const never = new Promise<void>(() => undefined);
    const driver = writer(() => {
      begun.resolve();
      return never;
    });
    const { worker, caller, sessionId } = await world(context, driver);
    let isStopped = false;
    const work = worker.execute(sessionId, sendMessage('Count.')).finally(() => (isStopped = true));
    await begun.promise;
    await caller.enqueue(sessionId, { type: 'stop' });
    await context.until('the run stops', () => isStopped);
    assert.equal((await work).state.status, 'stopped');
  }),
  readerCase('a frozen worker that publishes after it was replaced never shows', async (context) => {
    const { store, worker, elsewhere, sessionId } = await world(context, writer());
    const old: ChannelEntry[] = [];
    const { entries } = await context.subscribed(elsewhere, sessionId);
    await worker.execute(sessionId, sendMessage('Count.'));
    await context.until('the save arrives', () => entries.some(({ change }) => change.type === 'saved'));
    old.push(...entries);
    await worker.execute(sessionId, sendMessage('Again.'));
    const { views, stop } = watched(store, elsewhere, sessionId);
    await context.until('the session is loaded', () => views.length > 0);
    const before = views.length;
    await context.channel.publish(sessionId, old, { trim: true });
    await context.quiet();
    const session = await store.load(sessionId);
    for (const view of views.slice(before - 1)) assertShows(view, session);
    await stop();
  }),
];
