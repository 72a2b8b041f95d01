import { runInNewContext } from 'node:vm';
import {
  AgentSession,
  createAgentLoop,
  MemorySessionStore,
  resume,
  RunAbort,
  sendMessage,
  SessionRuntime,
  StoreUnavailableError,
  writeMetadata,
  type Clock,
  type Hook,
  type SessionAction,
  type SessionEvent,
  type SessionHooks,
  type SessionRuntimeOptions,
} from '@holdfast/core';
import type { SaveOptions } from '@holdfast/core/store';
import {
  scriptedDriver,
  steppedClock,
  type ScriptedAnswer,
  type ScriptedDriver,
} from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, expectPaired, expectSound } from '../support/builders.ts';
import { unhandledRejections } from '../support/unhandled-rejections.ts';

const unhandled = unhandledRejections();

/** What was asked of the store, and what it answered. */
interface Save {
  readonly session: AgentSession;
  readonly base: AgentSession | undefined;
  readonly saved: AgentSession;
}

class WatchedStore extends MemorySessionStore {
  readonly saves: Save[] = [];

  override async save(session: AgentSession, options: SaveOptions = {}): Promise<AgentSession> {
    const saved = await super.save(session, options);
    this.saves.push({ session, base: options.base, saved });
    return saved;
  }
}

/** A store that writes only what differs from the base by identity, as texts. */
class DiffingStore extends WatchedStore {
  readonly written = new Map<string, string>();

  override async create(session: AgentSession): Promise<AgentSession> {
    this.note(session, undefined);
    return super.create(session);
  }

  override async save(session: AgentSession, options: SaveOptions = {}): Promise<AgentSession> {
    const saved = await super.save(session, options);
    this.note(session, options.base);
    return saved;
  }

  private note({ state }: AgentSession, base: AgentSession | undefined): void {
    const put = (name: string, part: unknown, earlier: unknown): void => {
      if (part !== earlier) this.written.set(name, JSON.stringify(part));
    };
    put('metadata', state.metadata, base?.state.metadata);
    put('systemPrompt', state.systemPrompt, base?.state.systemPrompt);
    put('sections', state.store, base?.state.store);
  }
}

interface World<Store extends WatchedStore> {
  readonly runtime: SessionRuntime;
  readonly store: Store;
  readonly driver: ScriptedDriver;
  readonly sessionId: string;
  readonly events: SessionEvent[];
  readonly ran: string[];
}

interface WorldOptions<Store extends WatchedStore> extends Partial<SessionRuntimeOptions> {
  readonly store: Store;
  readonly script?: readonly ScriptedAnswer[];
  readonly loopHooks?: readonly Hook[];
}

async function world<Store extends WatchedStore>(options: WorldOptions<Store>): Promise<World<Store>> {
  const { store, script = [], loopHooks = [], ...others } = options;
  const [clock, driver] = [steppedClock(1_000), scriptedDriver(...script)];
  const [events, ran]: [SessionEvent[], string[]] = [[], []];
  const tools = [does('a', (_, { toolCallId }) => (ran.push(toolCallId), 'a'))];
  const runtime = new SessionRuntime({
    store,
    agents: { helper: createAgentLoop({ driver, tools, clock, hooks: loopHooks }) },
    onSessionEvent: (event) => void events.push(event),
    clock,
    ...others,
  });
  const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
  return { runtime, store, driver, sessionId, events, ran };
}

const call: ScriptedAnswer = { calls: [['a', {}]] };
const boom = (): never => {
  throw new Error('boom');
};
const counted = (name: string) => (session: AgentSession) => {
  const count = session.state.metadata.get<number>(name) ?? 0;
  return session.withState(session.state.withMetadata(name, count + 1));
};
const countIn = (session: AgentSession, name: string): unknown => session.state.metadata.get(name);

describe('afterLoad', () => {
  test('every save is based on the session that the store last returned, and on its revision', async () => {
    const { runtime, store, sessionId } = await world({
      store: new WatchedStore(),
      hooks: { afterLoad: counted('loads') },
    });
    const stored = await store.load(sessionId);
    const thrice: SessionAction = async (session, context) => {
      const first = await context.save(counted('writes')(session));
      const second = await context.save(counted('writes')(first));
      return counted('writes')(second);
    };
    const session = await runtime.execute(sessionId, thrice);
    const [first, second] = store.saves.map(({ saved }) => saved);
    expect(store.saves.map(({ base }) => base)).toEqual([stored, first, second]);
    for (const [index, base] of [stored, first, second].entries()) {
      expect(store.saves[index]?.base).toStrictEqual(base);
      expect(store.saves[index]?.session.revision).toEqual(base?.revision);
    }
    expect([session.version, session.revision.incarnation]).toEqual([4, stored?.revision.incarnation]);
    expect([countIn(session, 'loads'), countIn(session, 'writes')]).toEqual([1, 3]);
    expect(await store.load(sessionId)).toEqual(session);
  });

  test('a store that writes differences writes the changes of the hook', async () => {
    const script = [call, 'Done.'];
    const hooks = { afterLoad: counted('loads') };
    const { runtime, store, sessionId } = await world({ store: new DiffingStore(), script, hooks });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'));
    expect(state.metadata.values).toEqual({ loads: 1 });
    expect(store.written.get('metadata')).toBe('{"loads":1}');
    expect(store.written.get('sections')).toBe(JSON.stringify(state.store));
  });

  test('causes no save', async () => {
    const hooks = { afterLoad: counted('loads') };
    const { runtime, store, sessionId } = await world({ store: new WatchedStore(), hooks });
    const session = await runtime.execute(sessionId, resume());
    expect([countIn(session, 'loads'), session.version, store.saves]).toEqual([1, 1, []]);
  });
});

describe('beforeSave', () => {
  test('its changes are saved over the steps of a run, and the model sees them', async () => {
    const { runtime, store, sessionId, driver, ran } = await world({
      store: new WatchedStore(),
      script: [call, call, 'Done.'],
      hooks: {
        beforeSave: (session) => {
          const { state } = counted('saves')(session);
          return session.withState(state.withSystemPrompt(`Saved ${String(state.metadata.get('saves'))}.`));
        },
      },
    });
    const session = await runtime.execute(sessionId, sendMessage('Go'));
    expect(store.saves.map(({ saved }) => countIn(saved, 'saves'))).toEqual([2, 3, 4, 5, 6, 7]);
    expect(driver.requests.map(({ systemPrompt }) => systemPrompt)).toEqual([
      'Saved 2.',
      'Saved 4.',
      'Saved 6.',
    ]);
    const { state } = session;
    expect([state.status, state.finalResponse, state.steps.length]).toEqual(['completed', 'Done.', 3]);
    expect([state.executionCount, ran.length, state.messages.length]).toEqual([1, 2, 6]);
    expect(await store.load(sessionId)).toEqual(session);
    expectPaired(expectSound(state).messages);
  });

  test('a run continues from the changed state, and does not begin again', async () => {
    const begun: number[] = [];
    const watch: Hook = {
      name: 'watch',
      beforeExecution: (state) => void begun.push(state.steps.length),
    };
    const script = [call, call, 'Done.'];
    const steps = ({ state }: AgentSession): number => state.steps.length;
    const hooks: SessionHooks = {
      beforeSave: (session) => (steps(session) === 1 ? counted('saves')(session) : undefined),
    };
    const { runtime, sessionId } = await world({
      store: new WatchedStore(),
      script,
      hooks,
      loopHooks: [watch],
    });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'));
    expect([begun, state.metadata.values, state.finalResponse]).toEqual([[0], { saves: 2 }, 'Done.']);
  });

  test('a run whose store returns an equal state continues with its own state', async () => {
    class CopyingStore extends WatchedStore {
      override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
        return AgentSession.fromJSON(JSON.parse(JSON.stringify(await super.save(session, options))));
      }
    }
    const types: string[] = [];
    const { runtime, sessionId } = await world({ store: new CopyingStore(), script: [call, 'Done.'] });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'), {
      onEvent: ({ type }) => void types.push(type),
    });
    expect([state.status, types.filter((type) => type === 'execution-resumed')]).toEqual(['completed', []]);
  });

  test('a run that must yield yields and resumes in another process, though the hook changes every save', async () => {
    const leaving = new AbortController();
    const { runtime, sessionId } = await world({
      store: new WatchedStore(),
      script: [
        () => {
          leaving.abort(new RunAbort('yield'));
          return call;
        },
        'Done.',
      ],
      hooks: { beforeSave: counted('saves') },
    });
    const held = await runtime.execute(sessionId, sendMessage('Go'), { signal: leaving.signal });
    expect(held.state.status).toBe('inProgress');
    const session = await runtime.execute(sessionId, resume());
    expect([session.state.finalResponse, session.state.executionCount]).toEqual(['Done.', 1]);
    expect(countIn(session, 'saves')).toBe(session.version);
  });

  test('a run that is cancelled in the hook ends stopped', async () => {
    const stopping = new AbortController();
    const { runtime, sessionId, driver } = await world({
      store: new WatchedStore(),
      script: [call],
      hooks: {
        beforeSave: (session) => {
          if (session.state.steps.length === 1) stopping.abort();
          return counted('saves')(session);
        },
      },
    });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'), { signal: stopping.signal });
    expect([state.status, driver.requests.length]).toEqual(['stopped', 1]);
  });

  test('an error in the hook prevents the save', async () => {
    const { runtime, store, sessionId } = await world({
      store: new WatchedStore(),
      hooks: { beforeSave: ({ version }) => (version === 0 ? undefined : boom()) },
    });
    await expect(runtime.execute(sessionId, writeMetadata('x', 1))).rejects.toThrow('boom');
    expect([store.saves, (await runtime.get(sessionId)).version]).toEqual([[], 1]);
  });
});

describe('every write calls beforeSave and afterSave', () => {
  /** Hooks that note their calls, and the versions that they see. */
  function noted(): { readonly log: string[]; readonly hooks: SessionHooks } {
    const log: string[] = [];
    const note =
      (name: string) =>
      ({ version }: AgentSession): void =>
        void log.push(`${name} ${version}`);
    const names = ['beforeCreate', 'beforeSave', 'afterSave', 'afterCreate'] as const;
    return { log, hooks: Object.fromEntries(names.map((name) => [name, note(name)])) };
  }
  const CREATION = ['beforeCreate 0', 'beforeSave 0', 'afterSave 1', 'afterCreate 1'];

  test('a creation, inside beforeCreate and afterCreate', async () => {
    const { log, hooks } = noted();
    await world({ store: new WatchedStore(), hooks });
    expect(log).toEqual(CREATION);
  });

  test('the creation of a fork, of a child and of an older step', async () => {
    const { log, hooks } = noted();
    const { runtime, sessionId } = await world({ store: new WatchedStore(), script: [call, 'Done.'], hooks });
    await runtime.execute(sessionId, sendMessage('Go'));
    const creations: (() => Promise<AgentSession>)[] = [
      () => runtime.fork(sessionId),
      () => runtime.fork(sessionId, { atStep: 1 }),
      () => runtime.create({ definition: { name: 'helper' }, parentId: sessionId }),
    ];
    for (const create of creations) {
      log.length = 0;
      await create();
      expect(log).toEqual(CREATION);
    }
  });

  test('a value that a hook seals is sealed in the store from the first write on', async () => {
    const store = new WatchedStore();
    const sealed: SessionHooks = { beforeSave: counted('seals') };
    const { sessionId } = await world({ store, hooks: sealed });
    expect(countIn((await store.load(sessionId)) as AgentSession, 'seals')).toBe(1);
  });

  test('beforeSave receives the session that beforeCreate returned, and can prevent the creation', async () => {
    const store = new WatchedStore();
    const seen: unknown[] = [];
    const hooks: SessionHooks = {
      beforeCreate: counted('made'),
      beforeSave: (session) => (seen.push(countIn(session, 'made')), boom()),
    };
    await expect(world({ store, hooks })).rejects.toThrow('boom');
    expect([seen, (await store.list()).sessions]).toEqual([[1], []]);
  });

  test('a quick action, an inbox item, and each save of a run', async () => {
    const { log, hooks } = noted();
    const { runtime, store, sessionId } = await world({ store: new WatchedStore(), script: ['Hi.'], hooks });
    await runtime.execute(sessionId, writeMetadata('x', 1));
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello' });
    await runtime.advance(sessionId);
    const versions = store.saves.map(({ saved }) => saved.version);
    expect(versions).toEqual([2, 3, 4]);
    expect(log.slice(CREATION.length)).toEqual(
      versions.flatMap((version) => [`beforeSave ${version - 1}`, `afterSave ${version}`]),
    );
  });

  test('a save whose reply did not arrive calls afterSave once it is known to be done', async () => {
    class SilentStore extends WatchedStore {
      failures = 0;
      override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
        if (this.failures > 0) {
          this.failures--;
          throw new StoreUnavailableError('silent', { isAmbiguous: true });
        }
        return super.save(session, options);
      }
    }
    const { log, hooks } = noted();
    const store = new SilentStore();
    const script = [() => ((store.failures = 3), call), 'Done.'];
    // The pauses between attempts take no time. The heartbeat, which also writes to the store, never comes.
    const after: Clock['after'] = (milliseconds, callback) => {
      if (milliseconds <= 2_000) callback();
      return () => undefined;
    };
    const clock: Clock = { ...steppedClock(1_000), after };
    const parts = { store, script, hooks, clock, onSaveFailure: 'continue', leaseSeconds: 1e6 } as const;
    const { runtime, sessionId, events } = await world(parts);
    await runtime.execute(sessionId, sendMessage('Go'));
    expect(events.filter(({ type }) => type === 'session-save-failed')).toHaveLength(1);
    const written = log.filter((line) => line.startsWith('afterSave'));
    expect(written).toEqual(
      [1, ...store.saves.map(({ saved }) => saved.version)].map((it) => `afterSave ${it}`),
    );
  });
});

describe('hooks after a write', () => {
  test('an error in afterSave drops and repeats nothing, and is reported each time', async () => {
    const { runtime, store, sessionId, events, ran } = await world({
      store: new WatchedStore(),
      script: [call, 'Done.'],
      hooks: { afterSave: boom },
    });
    const session = await runtime.execute(sessionId, sendMessage('Go'));
    expect([session.state.status, session.state.finalResponse, ran.length]).toEqual([
      'completed',
      'Done.',
      1,
    ]);
    expect(store.saves.map(({ saved }) => saved.version)).toEqual([2, 3, 4, 5]);
    expect(store.saves.slice(1).map(({ base }) => base)).toEqual(
      store.saves.slice(0, -1).map(({ saved }) => saved),
    );
    expect(await store.load(sessionId)).toEqual(session);
    const failed = events.filter((event) => event.type === 'session-hook-failed');
    expect(failed.map(({ hook, session: { version } }) => [hook, version])).toEqual(
      [1, 2, 3, 4, 5].map((version) => ['afterSave', version]),
    );
    expect(failed[0]?.error).toEqual(new Error('boom'));
    expect(events.some(({ type }) => type === 'session-conflict')).toBe(false);
  });

  test('an error in afterCreate does not undo the creation', async () => {
    const hooks = { afterCreate: () => Promise.reject(new Error('boom')) };
    const { store, sessionId, events } = await world({ store: new WatchedStore(), hooks });
    expect(await store.exists(sessionId)).toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['session-saved', 'session-hook-failed']);
  });
});

describe('events', () => {
  test('a listener that rejects, in this realm or another, has no effect', async () => {
    const listeners: readonly (() => unknown)[] = [
      async () => boom(),
      () => runInNewContext('Promise.reject(new Error("boom"))'),
    ];
    for (const onSessionEvent of listeners) {
      const { runtime, sessionId } = await world({ store: new WatchedStore(), onSessionEvent });
      expect((await runtime.execute(sessionId, writeMetadata('x', 1))).version).toBe(2);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('a conflict is recognized by its code, whichever copy of the package created it', async () => {
    const error = Object.assign(new Error('Another was first.'), { code: 'SESSION_CONFLICT' });
    class LosingStore extends WatchedStore {
      override save(): Promise<AgentSession> {
        return Promise.reject(error);
      }
    }
    const { runtime, sessionId, events } = await world({ store: new LosingStore() });
    await expect(runtime.execute(sessionId, writeMetadata('x', 1))).rejects.toBe(error);
    expect(events.at(-1)).toMatchObject({ type: 'session-conflict', error, session: { sessionId } });
  });
});
