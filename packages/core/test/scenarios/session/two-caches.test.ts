import assert from 'node:assert/strict';
import {
  changeModel,
  changeSystemPrompt,
  clearHistory,
  createAgentLoop,
  hasErrorCode,
  resume,
  sendMessage,
  SessionRuntime,
  textOf,
  writeMetadata,
  type AgentSession,
  type SessionStore,
} from '@holdfast/core';
import { BackedSessionStore } from '@holdfast/core/store';
import type { InferenceRequest } from '@holdfast/core/driver';
import { manualClock, scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { does } from '../../support/builders.ts';
import { WatchedBackend } from '../../support/watched-backend.ts';

// Two processes that remember sessions take turns on one storage. Whatever each remembers, it must see and do what a
// process that remembers nothing does.

const definition = { name: 'helper' };
const SESSIONS = ['a', 'b'] as const;

type Name = (typeof SESSIONS)[number];

type Deed =
  | { readonly type: 'send'; readonly calls: number }
  | {
      readonly type: 'enqueue';
      readonly count: number;
      readonly isAgain: boolean;
      readonly isWorkedOn: boolean;
    }
  | { readonly type: 'metadata' | 'model' | 'prompt' | 'clear' | 'delete' | 'create' | 'look' | 'stale' }
  | { readonly type: 'expiring' }
  | { readonly type: 'later'; readonly seconds: number }
  | { readonly type: 'fork'; readonly at: number | undefined; readonly atStep: number | undefined }
  | { readonly type: 'both'; readonly calls: number }
  | { readonly type: 'die'; readonly writes: number; readonly calls: number }
  | { readonly type: 'set back' };

interface Turn {
  readonly who: 0 | 1;
  readonly name: Name;
  readonly deed: Deed;
  /** Do the processes look at the sessions afterwards? Otherwise they remember what is out of date. */
  readonly isSeen: boolean;
}

const deed = (weight: number, type: Deed['type'], fields: object = {}) => ({
  weight,
  arbitrary: fc.record({ type: fc.constant(type), ...fields } as never, {
    noNullPrototype: true,
  }) as fc.Arbitrary<Deed>,
});

const deeds: fc.Arbitrary<Deed> = fc.oneof(
  deed(8, 'send', { calls: fc.nat(2) }),
  deed(3, 'enqueue', {
    count: fc.constantFrom(0, 1, 2, 3, 120),
    isAgain: fc.boolean(),
    isWorkedOn: fc.boolean(),
  }),
  deed(2, 'metadata'),
  deed(1, 'model'),
  deed(1, 'prompt'),
  deed(1, 'clear'),
  deed(1, 'delete'),
  deed(2, 'create'),
  deed(1, 'expiring'),
  deed(1, 'later', { seconds: fc.constantFrom(1, 31, 100) }),
  deed(2, 'look'),
  deed(2, 'stale'),
  deed(1, 'fork', {
    at: fc.option(fc.nat(9), { nil: undefined }),
    atStep: fc.option(fc.nat(2), { nil: undefined }),
  }),
  deed(2, 'both', { calls: fc.nat(1) }),
  deed(2, 'die', { writes: fc.nat(8), calls: fc.nat(2) }),
  deed(2, 'set back'),
);
const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record(
    {
      who: fc.constantFrom<(0 | 1)[]>(0, 1),
      name: fc.constantFrom(...SESSIONS),
      deed: deeds,
      isSeen: fc.boolean(),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 25, size: 'max' },
);

/** A storage whose writes fail for a process that has died. */
class Storage extends WatchedBackend {
  writesLeft = Infinity;

  override async compareAndSet(
    ...args: Parameters<WatchedBackend['compareAndSet']>
  ): ReturnType<WatchedBackend['compareAndSet']> {
    if (this.writesLeft <= 0) throw new Error('The process is dead.');
    this.writesLeft -= 1;
    return super.compareAndSet(...args);
  }
}

interface Sight {
  readonly seen: AgentSession | undefined;
  readonly stored: AgentSession | undefined;
}

const textsIn = ({ state }: AgentSession): string[] =>
  state.messages.toArray().map((message) => `${message.role} ${textOf(message)}`);

class World {
  readonly clock = manualClock(1_000_000);
  readonly storage = new Storage();
  readonly processes: readonly SessionRuntime[];
  readonly observer: SessionRuntime;
  private said = 0;
  private known = 0;
  private readonly old: AgentSession[] = [];
  private readonly enqueued: string[] = [];

  constructor(cacheBytes: number) {
    this.processes = [this.process(cacheBytes), this.process(64_000_000)];
    this.observer = this.process(0);
  }

  private process(cacheBytes: number): SessionRuntime {
    const own = { ...this.clock, newId: manualClock((this.known += 1)).newId };
    const answer = ({ messages }: InferenceRequest): ScriptedAnswer => {
      const list = messages.toArray();
      const told = list.findLast(({ role }) => role === 'user');
      const text = told ? textOf(told) : '';
      const worked = list.slice(told ? list.indexOf(told) : 0).filter(({ role }) => role === 'tool').length;
      const calls = Number(text.split(' ')[1] ?? 0);
      if (worked < calls) return { calls: { work: { text } } };
      return `${text} of ${list.map((message) => textOf(message)).join('|').length}`;
    };
    const helper = createAgentLoop({
      driver: scriptedDriver(...Array.from({ length: 500 }, () => answer)),
      tools: [does('work')],
      clock: own,
    });
    const store = new BackedSessionStore(this.storage, { clock: this.clock });
    return new SessionRuntime({ store, agents: { helper }, clock: own, cacheBytes });
  }

  /** What each process sees, and what one that remembers nothing sees. */
  async seen(): Promise<readonly Sight[]> {
    const sights: Sight[] = [];
    for (const name of SESSIONS) {
      const stored = await quiet(this.observer.get(name));
      for (const runtime of this.processes) sights.push({ seen: await quiet(runtime.get(name)), stored });
      const told = stored ? textsIn(stored).filter((text) => text.startsWith('user')) : [];
      assert.equal(new Set(told).size, told.length, 'a message is there twice');
    }
    return sights;
  }

  async take({ who, name, deed: done }: Omit<Turn, 'isSeen'>): Promise<void> {
    const runtime = this.processes[who] as SessionRuntime;
    const before = await quiet(this.observer.get(name));
    switch (done.type) {
      case 'send': {
        if (before?.status !== 'active') return;
        const text = this.text(done.calls);
        const isBusy = await this.isBusy(name);
        const after = await runtime.execute(name, sendMessage(text));
        const texts = textsIn(await this.observer.get(name));
        if (isBusy) return assert.ok(textsIn(after).includes(`user ${text}`));
        // What is behind a page of the inbox is answered after it, to others.
        assert.deepEqual(texts.slice(0, textsIn(after).length), textsIn(after));
        assert.deepEqual(texts.slice(0, textsIn(before).length), textsIn(before));
        assert.ok(texts.includes(`user ${text}`));
        return assert.equal(after.state.status, 'completed');
      }
      case 'enqueue':
        if (before === undefined) return;
        for (let count = 0; count < done.count; count++) await this.enqueue(runtime, name, done.isAgain);
        if (done.isWorkedOn) await runtime.advance(name);
        return;
      case 'metadata':
        return this.quick(runtime, name, before, writeMetadata('n', (this.said += 1)));
      case 'model':
        return this.quick(runtime, name, before, changeModel({ model: `m${(this.said += 1)}` }));
      case 'prompt':
        return this.quick(runtime, name, before, changeSystemPrompt(`p${(this.said += 1)}`));
      case 'clear':
        return this.quick(runtime, name, before, clearHistory());
      case 'delete':
        assert.equal(await runtime.delete(name), before !== undefined);
        return;
      case 'create':
        return this.create(runtime, name, before);
      case 'expiring':
        return this.create(runtime, name, before, { afterSeconds: 50 });
      case 'later':
        return this.clock.advance(done.seconds * 1000);
      case 'look':
        await quiet(runtime.get(name));
        return;
      case 'stale':
        return this.saveStale(runtime.store, name, before);
      case 'fork':
        return this.fork(runtime, name, before, done);
      case 'both': {
        if (before?.status !== 'active') return;
        const texts = [this.text(done.calls), this.text(0)];
        const isBusy = await this.isBusy(name);
        const [mine, theirs] = this.processes.map(async (one, index) =>
          one.execute(name, sendMessage(texts[index] as string)),
        );
        await Promise.all([mine, theirs]);
        if (isBusy) return;
        const said = textsIn(await this.observer.get(name));
        for (const text of texts) assert.ok(said.includes(`user ${text}`), `${text} is lost`);
        const { state } = await this.observer.get(name);
        assert.equal(state.status, 'completed');
        return;
      }
      case 'die': {
        if (before?.status !== 'active') return;
        const text = this.text(done.calls);
        this.storage.writesLeft = done.writes;
        await runtime.execute(name, sendMessage(text)).catch(() => undefined);
        this.storage.writesLeft = Infinity;
        return;
      }
      case 'set back':
        return this.setBack(who, name, before);
    }
  }

  /** Ends what was left. */
  async end(): Promise<void> {
    this.clock.advance(31_000);
    for (const name of SESSIONS) {
      const there = await quiet(this.observer.get(name));
      if (there?.status !== 'active') continue;
      await this.processes[0]?.advance(name);
      const session = await this.processes[1]?.execute(name, resume());
      assert.ok(!session?.state.hasActiveExecution, 'it is idle at the end');
      assert.ok(await this.isEmpty(name), 'the inbox is empty at the end');
    }
  }

  /** Leaves a message, or one of those left before once more. */
  private async enqueue(runtime: SessionRuntime, name: Name, isAgain: boolean): Promise<void> {
    const known = this.enqueued.at(-1 - (this.said % 20));
    const content = (isAgain && known) || this.text(0);
    if (content !== known) this.enqueued.push(content);
    await runtime.enqueue(name, { type: 'message', content }, { id: content });
  }

  /** One process writes what is lost, and the other one writes instead. What is set back keeps no items. */
  private async setBack(who: 0 | 1, name: Name, before: AgentSession | undefined): Promise<void> {
    if (before?.status !== 'active' || (await this.isBusy(name)) || !(await this.isEmpty(name))) return;
    const goBack = await this.storage.remember(name);
    const write = (by: number): Promise<unknown> | undefined =>
      this.processes[by]?.execute(name, writeMetadata('by', (this.said += 1)));
    await write(who);
    await goBack();
    await write(1 - who);
  }

  private text(calls: number): string {
    return `t${(this.said += 1)} ${calls}`;
  }

  /** Is the inbox empty? */
  private async isEmpty(name: Name): Promise<boolean> {
    const { inbox } = (await this.storage.readRecord(name)) ?? {};
    return inbox === undefined || inbox.first === inbox.next;
  }

  private async isBusy(name: Name): Promise<boolean> {
    const lease = (await this.storage.readRecord(name))?.lease;
    return lease !== undefined && lease.until > this.clock.now();
  }

  private async quick(
    runtime: SessionRuntime,
    name: Name,
    before: AgentSession | undefined,
    action: Parameters<SessionRuntime['execute']>[1],
  ): Promise<void> {
    if (before === undefined || (await this.isBusy(name))) return;
    const after = await runtime.execute(name, action);
    assert.ok([before.version, before.version + 1].includes(after.version));
    assert.deepStrictEqual(after, await this.observer.get(name));
  }

  private async create(
    runtime: SessionRuntime,
    name: Name,
    before: AgentSession | undefined,
    expiry?: { readonly afterSeconds: number },
  ): Promise<void> {
    const created = runtime.create({ definition, sessionId: name, ...(expiry && { expiry }) });
    if (before === undefined) return void this.old.push(await created);
    await assert.rejects(created, { code: 'SESSION_CONFLICT' });
  }

  /** A save that is based on what was long ago is refused, and changes nothing. */
  private async saveStale(store: SessionStore, name: Name, before: AgentSession | undefined): Promise<void> {
    const base = this.old.findLast(({ sessionId }) => sessionId === name);
    if (before) this.old.push(before);
    if (base === undefined || before === undefined || (await this.isBusy(name))) return;
    const isSame =
      base.version === before.version && base.revision.incarnation === before.revision.incarnation;
    const changed = base.withState(base.state.withMetadata('stale', true));
    const known = await store.load(name, { base });
    assert.deepStrictEqual(known, before);
    if (isSame) return;
    await assert.rejects(store.save(changed, { base }), (error) => hasErrorCode(error, 'SESSION_CONFLICT'));
  }

  private async fork(
    runtime: SessionRuntime,
    name: Name,
    before: AgentSession | undefined,
    { at, atStep }: Extract<Deed, { type: 'fork' }>,
  ): Promise<void> {
    const other = name === 'a' ? 'b' : 'a';
    if (before === undefined || (await quiet(this.observer.get(other)))) return;
    const message = at === undefined ? undefined : before.state.messages.at(at);
    const step = Math.min(atStep ?? 0, before.state.stepExecutions.length);
    const options = message ? { atMessage: message.id } : atStep === undefined ? {} : { atStep: step };
    const copy = await runtime.fork(name, { sessionId: other, ...options });
    assert.deepStrictEqual(copy, await this.observer.get(other));
    await this.processes[0]?.execute(other, resume());
  }
}

function quiet(session: Promise<AgentSession>): Promise<AgentSession | undefined> {
  return session.catch((error) => {
    if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
    return undefined;
  });
}

test('processes with a session cache see and do the same as a process without a cache', async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.constantFrom(64_000_000, 20_000), async (all, cacheBytes) => {
      const world = new World(cacheBytes);
      for (const name of SESSIONS) await world.take({ who: 0, name, deed: { type: 'create' } });
      for (const turn of all) {
        await world.take(turn);
        if (!turn.isSeen) continue;
        for (const { seen, stored } of await world.seen()) assert.deepStrictEqual(seen, stored);
      }
      await world.end();
      for (const { seen, stored } of await world.seen()) assert.deepStrictEqual(seen, stored);
    }),
    cases(100),
  );
});
