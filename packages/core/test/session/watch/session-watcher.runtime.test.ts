import {
  AgentSession,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  approve,
  sendMessage,
  SessionRuntime,
  tool,
  type SessionRuntimeOptions,
  type Tool,
} from '@holdfast/core';
import {
  MemorySessionChannel,
  SessionWatcher,
  type ChannelCapabilities,
  type SessionView,
} from '@holdfast/core/channel';
import type { Driver } from '@holdfast/core/driver';
import { BackedSessionStore } from '@holdfast/core/store';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { deferred, driverOf } from '../../support/builders.ts';
import { WatchedBackend } from '../../support/watched-backend.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A worker, a caller and a reader, each with a channel of its own on one transport. */
function processes(driver: Driver, tools: readonly Tool[] = []) {
  const clock = manualClock(1_000_000);
  const store = new MemorySessionStore({ clock });
  const transport = new MemorySessionChannel({ clock });
  const loop = createAgentLoop({ driver, tools, clock });
  const runtime = (options: Partial<SessionRuntimeOptions> = {}): SessionRuntime =>
    new SessionRuntime({ store, agents: { a: loop }, clock, channel: transport.connect(), ...options });
  const watcher = new SessionWatcher({ store, channel: transport.connect(), clock });
  return { clock, store, transport, runtime, watcher };
}

const definition = { name: 'a' };

/** A driver that says its texts when it is asked to, and whether its call was aborted. */
function talkingDriver() {
  const begun = deferred<(text: string) => void>();
  const ended = deferred<string>();
  const driver = driverOf(async (_, { onDelta, signal }) => {
    begun.resolve((text) => onDelta?.({ type: 'text', id: '0', text }));
    signal.addEventListener('abort', () => ended.resolve(''));
    return {
      content: [{ type: 'text', text: await ended.promise }],
      finishReason: signal.aborted ? 'aborted' : 'stop',
    };
  });
  return { driver, begun: begun.promise, end: ended.resolve };
}

async function nextView(views: AsyncGenerator<SessionView, void>): Promise<SessionView> {
  const { value } = await views.next();
  if (!value) throw new Error('The iteration has ended.');
  return value;
}

test('a reader sees the text of a response while the model writes it, and then the saved session', async () => {
  const { driver, begun, end } = talkingDriver();
  const { clock, runtime, watcher } = processes(driver);
  const { sessionId } = await runtime().create({ definition });
  const views = watcher.watch(sessionId);
  expect((await nextView(views)).session.version).toBe(1);
  const work = runtime().execute(sessionId, sendMessage('Hello'));
  const say = await begun;
  say('Hel');
  await settled();
  expect((await nextView(views)).partial?.parts).toEqual([{ type: 'text', id: '0', text: 'Hel' }]);
  say('lo');
  clock.advance(50);
  await settled();
  const live = await nextView(views);
  expect(live.partial?.parts).toEqual([{ type: 'text', id: '0', text: 'Hello' }]);
  expect(live.session.state.messages.length).toBe(1);
  expect(live.isSaved).toBe(false);
  end('Hello there.');
  const session = await work;
  await settled();
  const last = await nextView(views);
  expect(last).toMatchObject({ partial: undefined, isSaved: true });
  expect(last.session.version).toBe(session.version);
  expect(last.session.state).toStrictEqual(session.state);
  await views.return();
});

test('a stop reaches the worker at once: no timer of the worker fires before', async () => {
  const { driver, begun } = talkingDriver();
  const { runtime } = processes(driver);
  const { sessionId } = await runtime().create({ definition });
  const work = runtime().execute(sessionId, sendMessage('Hello'));
  await begun;
  await runtime().enqueue(sessionId, { type: 'stop' });
  const { state } = await work; // the clock stands still
  expect(state.status).toBe('stopped');
});

test('a message to a busy session is used after the step, without a heartbeat', async () => {
  const [entered, finish] = [deferred(), deferred()];
  const execute = async (): Promise<string> => {
    entered.resolve(undefined);
    await finish.promise;
    return 'done';
  };
  const work = tool({ name: 'work', description: 'Works.', inputSchema: { type: 'object' }, execute });
  const { runtime } = processes(scriptedDriver({ calls: { work: {} } }, 'Done.'), [work]);
  const { sessionId } = await runtime().create({ definition });
  const running = runtime().execute(sessionId, sendMessage('Work.'));
  await entered.promise;
  await runtime().execute(sessionId, sendMessage('And hurry.'));
  await settled();
  finish.resolve(undefined);
  const { state } = await running;
  expect(state.steps[1]?.input.toArray().at(-1)).toMatchObject({ role: 'user' });
});

test('a decision elsewhere shows to a reader, with the call that it lets run', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => 'paid',
  });
  const { runtime, watcher, clock } = processes(scriptedDriver({ calls: { pay: {} } }, 'Paid.'), [pay]);
  const { sessionId } = await runtime().create({ definition });
  await runtime().execute(sessionId, sendMessage('Pay.'));
  const views = watcher.watch(sessionId);
  const { session } = await nextView(views);
  const [request] = pendingApprovals(session.state);
  await runtime().execute(sessionId, approve(request?.id ?? '', { by: 'ada' }));
  clock.advance(50);
  await settled();
  const last = await nextView(views);
  expect(last.session.state.status).toBe('completed');
  expect(last.session.state.steps[0]?.toolExecutions[0]?.outcome).toMatchObject({ value: 'paid' });
  await views.return();
});

test('readers share a subscription and a view, and a slow one gets the latest', async () => {
  const { driver, begun, end } = talkingDriver();
  const { clock, runtime, store, transport } = processes(driver);
  let subscriptions = 0;
  const channel = transport.connect();
  const watcher = new SessionWatcher({
    store,
    clock,
    channel: Object.assign(Object.create(channel) as MemorySessionChannel, {
      subscribe: (...given: Parameters<MemorySessionChannel['subscribe']>) => {
        subscriptions++;
        return channel.subscribe(...given);
      },
    }),
  });
  const { sessionId } = await runtime().create({ definition });
  const [quick, slow] = [watcher.watch(sessionId), watcher.watch(sessionId)];
  expect(await nextView(quick)).toBe(await nextView(slow));
  const work = runtime().execute(sessionId, sendMessage('Hello'));
  const say = await begun;
  for (const word of ['a', 'b', 'c']) {
    say(word);
    clock.advance(50);
    await settled();
    expect((await nextView(quick)).partial?.parts[0]?.text).toMatch(new RegExp(`${word}$`));
  }
  expect((await nextView(slow)).partial?.parts[0]?.text).toBe('abc');
  expect(subscriptions).toBe(1);
  end('');
  await work;
  await Promise.all([quick.return(), slow.return()]);
});

test('a reader without a channel that works sees each save within a second', async () => {
  const { clock, runtime, store, transport } = processes(scriptedDriver('Hello.'));
  const channel = transport.connect();
  await channel.close();
  const watcher = new SessionWatcher({ store, channel, clock });
  const { sessionId } = await runtime().create({ definition });
  const views = watcher.watch(sessionId);
  await nextView(views);
  await runtime().execute(sessionId, sendMessage('Hello'));
  const pending = nextView(views);
  clock.advance(1_000);
  expect((await pending).session.state.status).toBe('completed');
  await views.return();
});

test('readers that come and go do not hold up the look at the store', async () => {
  const { clock, runtime, store, transport } = processes(scriptedDriver('Hello.'));
  const watcher = new SessionWatcher({ store, channel: transport.connect(), clock });
  const { sessionId } = await runtime().create({ definition });
  const views = watcher.watch(sessionId);
  await nextView(views);
  const closed = transport.connect();
  await closed.close();
  await runtime({ channel: closed }).execute(sessionId, sendMessage('Hello'));
  const pending = nextView(views);
  for (let tenth = 0; tenth < 10; tenth++) {
    const other = watcher.watch(sessionId);
    await nextView(other);
    await other.return();
    clock.advance(100);
    await settled();
  }
  expect((await pending).session.state.status).toBe('completed');
  await views.return();
});

test.each<[string, ChannelCapabilities, work: 'none' | 'suspended' | 'running', reads: number]>([
  ['an idle session of a channel that pushes', { tail: 'deltas', delivery: 'pushed' }, 'none', 25],
  ['an idle session of a channel that pushes saves', { tail: 'saves', delivery: 'pushed' }, 'none', 25],
  ['a session that waits for a person', { tail: 'deltas', delivery: 'pushed' }, 'suspended', 25],
  ['an idle session of a channel that polls', { tail: 'deltas', delivery: 'polled' }, 'none', 123],
  ['a session at work', { tail: 'deltas', delivery: 'pushed' }, 'running', 600],
])('in ten minutes without news, %s is read seldom', async (_, capabilities, work, most) => {
  const suspended = scriptedDriver({ calls: { pay: {} } });
  const running = driverOf(() => new Promise(() => {}));
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: {},
    needsApproval: true,
    execute: () => 'paid',
  });
  const { clock, runtime, store, transport } = processes(work === 'running' ? running : suspended, [pay]);
  const { sessionId } = await runtime().create({ definition });
  const executed = work === 'none' ? undefined : runtime().execute(sessionId, sendMessage('Pay.'));
  if (work === 'suspended') await executed;
  await settled();
  let reads = 0;
  const load: typeof store.load = (...args) => (reads++, store.load(...args));
  const channel = Object.assign(transport.connect(), { capabilities });
  const watcher = new SessionWatcher({
    store: Object.assign(Object.create(store), { load }),
    channel,
    clock,
  });
  const views = watcher.watch(sessionId);
  await nextView(views);
  for (let second = 0; second < 600; second++) {
    clock.advance(1_000);
    await settled();
  }
  expect(reads).toBeLessThanOrEqual(most + 1);
  expect(reads).toBeGreaterThan(most * 0.95);
  await views.return();
});

test('an iteration ends when the signal aborts, when the session is deleted, and fails for a missing one', async () => {
  const { clock, runtime, watcher } = processes(scriptedDriver());
  await expect(watcher.watch('missing').next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  const { sessionId } = await runtime().create({ definition });
  const abortController = new AbortController();
  const [aborted, deleted] = [
    watcher.watch(sessionId, { signal: abortController.signal }),
    watcher.watch(sessionId),
  ];
  await Promise.all([nextView(aborted), nextView(deleted)]);
  const ends = [aborted.next(), deleted.next()];
  abortController.abort();
  expect(await ends[0]).toEqual({ done: true, value: undefined });
  await runtime().delete(sessionId);
  clock.advance(1_000);
  expect(await ends[1]).toEqual({ done: true, value: undefined });
});

test('a run does not wait for a channel that never replies, and does not fail because of one that fails', async () => {
  const broken = new MemorySessionChannel();
  broken.publish = () => new Promise(() => {});
  broken.notify = () => Promise.reject(new Error('down'));
  const { runtime } = processes(scriptedDriver('Hello.'));
  const worker = runtime({ channel: broken });
  const { sessionId } = await worker.create({ definition });
  await worker.enqueue(sessionId, { type: 'message', content: 'Hello' });
  expect((await worker.advance(sessionId)).outcome).toEqual({ type: 'finished' });
});

test('the first view of a caller who has the session needs no content', async () => {
  const backend = new WatchedBackend();
  const store = new BackedSessionStore(backend);
  const watcher = new SessionWatcher({ store, channel: new MemorySessionChannel() });
  const base = await store.create(AgentSession.create({ sessionId: 's', definition }));
  backend.look();
  const views = watcher.watch('s', { base });
  expect((await nextView(views)).session).toEqual(base);
  expect(backend.look()).toEqual(['readRecord']);
  await views.return();
});
