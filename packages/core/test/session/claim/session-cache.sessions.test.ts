import {
  AgentSession,
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  textOf,
  userMessage,
  writeMetadata,
  type SessionHooks,
  type SessionRuntimeOptions,
  type SessionStore,
} from '@holdfast/core';
import { BackedSessionStore } from '@holdfast/core/store';
import { manualClock, scriptedDriver, type ManualClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { WatchedBackend } from '../../support/watched-backend.ts';

const definition = { name: 'helper' };

interface Machine {
  readonly backend: WatchedBackend;
  readonly clock: ManualClock;
  /** Another process with this script, on the same database. */
  readonly process: (script: readonly string[], options?: Partial<SessionRuntimeOptions>) => SessionRuntime;
}

function machine(): Machine {
  const [backend, clock] = [new WatchedBackend(), manualClock(1_000_000)];
  let processes = 0;
  return {
    backend,
    clock,
    process(script, options = {}) {
      const own = { ...clock, newId: manualClock((processes += 1)).newId };
      const helper = createAgentLoop({ driver: scriptedDriver(...script), clock: own });
      const store = new BackedSessionStore(backend, { clock });
      return new SessionRuntime({ store, agents: { helper }, clock: own, ...options });
    },
  };
}

const textsOf = ({ state }: AgentSession): string[] =>
  state.messages.toArray().map((message) => textOf(message));

describe('a cached session is not read again', () => {
  test('no turn of the process that created the session reads its content', async () => {
    const { backend, process } = machine();
    const runtime = process(['One.', 'Two.', 'Three.']);
    const { sessionId } = await runtime.create({ definition });
    backend.look();
    for (const text of ['1', '2']) await runtime.execute(sessionId, sendMessage(text));
    await runtime.execute(sessionId, writeMetadata('language', 'fr'));
    await runtime.enqueue(sessionId, { type: 'message', content: '3' });
    await runtime.advance(sessionId);
    const session = await runtime.get(sessionId);
    expect(backend.contentReads()).toBe(0);
    expect(textsOf(session)).toEqual(['1', 'One.', '2', 'Two.', '3', 'Three.']);
    expect(session.state.metadata.get('language')).toBe('fr');
  });

  test('the second turn of a process that found the session reads no more content than the first', async () => {
    const { backend, process } = machine();
    const { sessionId } = await process([]).create({ definition });
    const runtime = process(['One.', 'Two.']);
    backend.look();
    await runtime.execute(sessionId, sendMessage('1'));
    expect(backend.contentReads()).toBe(1);
    await runtime.execute(sessionId, sendMessage('2'));
    expect(backend.contentReads()).toBe(0);
  });

  test('a session that another process has saved is read once', async () => {
    const { backend, process } = machine();
    const [mine, theirs] = [process(['One.', 'Three.']), process(['Two.'])];
    const { sessionId } = await mine.create({ definition });
    await mine.execute(sessionId, sendMessage('1'));
    await theirs.execute(sessionId, sendMessage('2'));
    backend.look();
    const session = await mine.execute(sessionId, sendMessage('3'));
    expect(backend.contentReads()).toBe(1);
    expect(textsOf(session)).toEqual(['1', 'One.', '2', 'Two.', '3', 'Three.']);
  });

  test('a claim and an item of another process do not change the content: it is not read', async () => {
    const { backend, process } = machine();
    const [mine, theirs] = [process(['One.', 'Two.']), process([])];
    const { sessionId } = await mine.create({ definition });
    await mine.execute(sessionId, sendMessage('1'));
    await theirs.enqueue(sessionId, { type: 'message', content: '2' });
    const { claim } = await theirs.store.claim(sessionId, { workerId: 'another', leaseSeconds: 1 });
    await theirs.store.release(claim);
    backend.look();
    await mine.advance(sessionId);
    expect(backend.contentReads()).toBe(0);
    expect(textsOf(await mine.get(sessionId))).toEqual(['1', 'One.', '2', 'Two.']);
  });

  test('a session that was only loaded is cached too', async () => {
    const { backend, process } = machine();
    const { sessionId } = await process([]).create({ definition });
    for (const look of [
      (runtime: SessionRuntime) => runtime.get(sessionId),
      (runtime: SessionRuntime) => runtime.advance(sessionId),
    ]) {
      const runtime = process([]);
      backend.look();
      await look(runtime);
      expect(backend.contentReads()).toBe(1);
      await look(runtime);
      expect(backend.contentReads()).toBe(0);
    }
  });

  test('with cacheBytes 0 each turn reads the content', async () => {
    const { backend, process } = machine();
    const runtime = process(['One.', 'Two.'], { cacheBytes: 0 });
    const { sessionId } = await runtime.create({ definition });
    backend.look();
    for (const text of ['1', '2']) {
      await runtime.execute(sessionId, sendMessage(text));
      expect(backend.contentReads()).toBe(1);
    }
  });

  test.each([-1, 0.5, Number.NaN, Infinity])('cacheBytes %d is refused', (cacheBytes) => {
    expect(() => machine().process([], { cacheBytes })).toThrow(
      expect.objectContaining({
        code: 'ARGUMENT_INVALID',
        message: expect.stringContaining('cacheBytes of SessionRuntime must be a whole number of at least 0'),
      }),
    );
  });

  test('a session that is larger than the cache is read each time', async () => {
    const { backend, process } = machine();
    const runtime = process(['One.', 'Two.'], { cacheBytes: 10 });
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('1'));
    backend.look();
    await runtime.execute(sessionId, sendMessage('2'));
    expect(backend.contentReads()).toBe(1);
  });

  test('a deleted session is removed from the cache, and a new session under its id is another session', async () => {
    const { backend, process } = machine();
    const [mine, theirs] = [process(['One.']), process([])];
    const { sessionId } = await mine.create({ definition });
    await mine.execute(sessionId, sendMessage('1'));
    await mine.delete(sessionId);
    await expect(mine.get(sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await theirs.create({ definition, sessionId });
    backend.look();
    expect(textsOf(await mine.get(sessionId))).toEqual([]);
    expect(backend.look()).toEqual(['readSession']); // and no record to compare with
  });

  test('a session that another process has deleted and created again is read', async () => {
    const { process } = machine();
    const [mine, theirs] = [process(['One.', 'Two.']), process([])];
    const { sessionId } = await mine.create({ definition });
    await mine.execute(sessionId, sendMessage('1'));
    await theirs.delete(sessionId);
    await theirs.create({ definition, sessionId });
    expect(textsOf(await mine.execute(sessionId, sendMessage('2')))).toEqual(['2', 'Two.']);
  });
});

describe('a store that was restored to an earlier state', () => {
  async function setBack(): Promise<Machine & { readonly mine: SessionRuntime; readonly sessionId: string }> {
    const made = machine();
    const mine = made.process(['One.', 'Lost.', 'After.']);
    const { sessionId } = await mine.create({ definition });
    await mine.execute(sessionId, sendMessage('1'));
    const goBack = await made.backend.remember(sessionId);
    await mine.execute(sessionId, sendMessage('lost'));
    await goBack();
    return { ...made, mine, sessionId };
  }

  test('is the authority: the versions that it dropped are gone', async () => {
    const { mine, sessionId } = await setBack();
    expect(textsOf(await mine.get(sessionId))).toEqual(['1', 'One.']);
    expect(textsOf(await mine.execute(sessionId, sendMessage('2')))).toEqual(['1', 'One.', '2', 'After.']);
  });

  test('is detected even when another process has saved the same version', async () => {
    const { mine, process, sessionId } = await setBack();
    const kept = await process(['Kept.']).execute(sessionId, sendMessage('kept'));
    const session = await mine.get(sessionId);
    expect(session.revision).toEqual(kept.revision);
    expect(textsOf(session)).toEqual(['1', 'One.', 'kept', 'Kept.']);
    const after = await mine.execute(sessionId, sendMessage('2'));
    expect(textsOf(after)).toEqual(['1', 'One.', 'kept', 'Kept.', '2', 'After.']);
  });

  test('refuses a save that is based on a dropped version', async () => {
    const { backend, process } = machine();
    const [mine, theirs] = [process([]), process([])];
    const { sessionId } = await mine.create({ definition });
    const goBack = await backend.remember(sessionId);
    await mine.execute(sessionId, writeMetadata('n', 'lost'));
    const late = mine.execute(
      sessionId,
      Object.assign(
        async (session: AgentSession) => {
          await goBack();
          await theirs.execute(sessionId, writeMetadata('n', 'kept'));
          return session.withState(session.state.withMetadata('m', 1));
        },
        { isQuick: true },
      ),
    );
    await expect(late).rejects.toMatchObject({ code: 'SESSION_CONFLICT', kind: 'store-behind' });
    expect((await mine.get(sessionId)).state.metadata.toJSON()).toEqual({ n: 'kept' });
  });
});

test('a save with a base from another store writes the whole session', async () => {
  const { backend, clock, process } = machine();
  const [mine, theirs] = [process([]).store, process([]).store];
  const texts = ['1', '2', '3'];
  const saved = (store: SessionStore, base: AgentSession, count: number): Promise<AgentSession> => {
    const messages = texts.slice(0, count).map((text) => userMessage(text, { id: text, clock }));
    return store.save(base.withState(base.state.withMessages([...base.state.messages, ...messages])), {
      base,
    });
  };
  const created = await mine.create(AgentSession.create({ definition, clock }));
  const { sessionId } = created;
  const goBack = await backend.remember(sessionId);
  const lost = await saved(mine, created, 2);
  await goBack();
  await saved(theirs, (await theirs.load(sessionId)) as AgentSession, 1);
  await saved(theirs, lost, 1);
  expect(textsOf((await mine.load(sessionId)) as AgentSession)).toEqual(['1', '2', '1']);
});

describe('hooks that change how a session is stored', () => {
  const secretOf = ({ state }: AgentSession): string => state.metadata.get<string>('secret') ?? 'none';
  /** The session with its secret reversed: once too often, or too seldom, is an error. */
  const turned = (session: AgentSession, from: string, to: string): AgentSession => {
    const [found, text = ''] = secretOf(session).split(':');
    if (found !== from) throw new Error(`Expected a secret that is ${from}, found ${found}.`);
    const secret = `${to}:${[...text].toReversed().join('')}`;
    return session.withState(session.state.withMetadata('secret', secret, session.updatedAt));
  };
  const hooks: SessionHooks = {
    beforeCreate: (session) =>
      session.withState(session.state.withMetadata('secret', 'closed:terces', session.updatedAt)),
    afterLoad: (session) => turned(session, 'closed', 'open'),
    // A run goes on from what was saved, and saves it again.
    beforeSave: (session) =>
      secretOf(session).startsWith('open') ? turned(session, 'open', 'closed') : undefined,
  };

  /** What users see after each of several turns, what is stored, and how often content was read. */
  async function turnsOf(cacheBytes: number): Promise<{ seen: string[]; stored: string[]; reads: number }> {
    const { backend, process } = machine();
    const runtime = process(['One.', 'Two.', 'Three.'], { hooks, cacheBytes });
    const { sessionId } = await runtime.create({ definition });
    const [seen, stored]: [string[], string[]] = [[], []];
    const turns = [
      () => runtime.execute(sessionId, sendMessage('1')),
      () => runtime.execute(sessionId, writeMetadata('language', 'fr')),
      () => runtime.execute(sessionId, sendMessage('2')),
      async () => {
        await runtime.enqueue(sessionId, { type: 'message', content: '3' });
        await runtime.advance(sessionId);
      },
    ];
    let reads = 0;
    for (const turn of turns) {
      backend.look();
      await turn();
      const session = await runtime.get(sessionId);
      reads += backend.contentReads();
      seen.push(`${secretOf(session)} ${textsOf(session).join(' ')}`);
      stored.push(secretOf(await process([]).get(sessionId)));
    }
    return { seen, stored, reads };
  }

  test.each([
    { cacheBytes: 64_000_000, reads: 0 },
    { cacheBytes: 0, reads: 8 },
  ])('run once for each load and save, with cacheBytes $cacheBytes', async ({ cacheBytes, reads }) => {
    expect(await turnsOf(cacheBytes)).toEqual({
      seen: [
        'open:secret 1 One.',
        'open:secret 1 One.',
        'open:secret 1 One. 2 Two.',
        'open:secret 1 One. 2 Two. 3 Three.',
      ],
      stored: Array(4).fill('closed:terces'),
      reads,
    });
  });
});

test('two processes that create the same ids do not share a claim', async () => {
  const store = new MemorySessionStore();
  const owners: string[] = [];
  const claim = store.claim.bind(store);
  store.claim = (sessionId, options) => {
    owners.push(options.workerId);
    return claim(sessionId, options);
  };
  const clock = { now: () => Date.now(), newId: () => '90000000-0000-4000-8000-000000000001' };
  const copies = [1, 2].map(() => new SessionRuntime({ store, clock, agents: {} }));
  const { sessionId } = await store.create(AgentSession.create({ definition: { name: 'tester' } }));
  for (const copy of copies) await copy.advance(sessionId);
  expect(new Set(owners).size).toBe(2);
});
