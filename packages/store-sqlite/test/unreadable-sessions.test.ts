import { DatabaseSync } from 'node:sqlite';
import { createAgentLoop, InProcessEngine, sendMessage, SessionRuntime } from '@holdfast/core';
import { PollingEngine, sweep, type QueueEngine } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, onTestFinished, test } from 'vitest';

const DAMAGED = 130;
const SOUND = ['one', 'two', 'three'];

/** A store in which more sessions than a page are due and unreadable, and some sound ones are due behind them. */
async function world() {
  const database = new DatabaseSync(':memory:');
  const store = new SqliteSessionStore({ database });
  const helper = createAgentLoop({ driver: scriptedDriver('Yes.', 'Yes.', 'Yes.') });
  const runtime = new SessionRuntime({ store, agents: { helper } });
  const ask = async (sessionId: string): Promise<void> => {
    await runtime.create({ sessionId, definition: { name: 'helper' }, owner: 'ann' });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Well?' });
  };
  for (let index = 0; index < DAMAGED; index++) await ask(`bad${index}`);
  database.exec(`UPDATE sessions SET record = json_set(record, '$.newer', 1)`);
  for (const id of SOUND) await ask(id);
  return { store, runtime };
}

/** Serves until the sound sessions have an answer. Returns the ids and the errors that the engine has reported. */
async function serve(
  engine: QueueEngine,
  { store, runtime }: Awaited<ReturnType<typeof world>>,
  isDone: (reported: readonly string[]) => boolean,
): Promise<readonly string[]> {
  const reported: string[] = [];
  let look = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    look = () => {
      const check = async (): Promise<void> => {
        const { sessions } = await store.list({ executionStatus: 'completed' });
        if (sessions.length === SOUND.length && isDone(reported)) resolve();
      };
      void check();
    };
  });
  const worker = await engine.serve(
    (id, options) => runtime.advance(id, options).finally(() => setImmediate(look)),
    {
      onError: (error, sessionId) => {
        expect(error).toMatchObject({ code: 'STATE_FORMAT' });
        reported.push(String(sessionId));
      },
    },
  );
  onTestFinished(() => worker.stop());
  if (!(engine instanceof PollingEngine)) await sweep(store, engine);
  look();
  await done;
  return reported;
}

test.each(['a sweep', 'the polling engine'])(
  '%s reports each unreadable session once, and the sessions behind them are advanced',
  async (what) => {
    const parts = await world();
    const { store, runtime } = parts;
    const engine = what === 'a sweep' ? new InProcessEngine() : new PollingEngine({ store });
    const reported = await serve(engine, parts, ({ length }) => length === DAMAGED);
    expect(new Set(reported).size).toBe(DAMAGED);
    for (const id of SOUND) expect((await runtime.get(id)).state.status).toBe('completed');
  },
);

test('a second sweep wakes no unreadable session again', async () => {
  const { store } = await world();
  const engine = { wake: async () => undefined };
  const total = DAMAGED + SOUND.length;
  expect(await sweep(store, engine)).toEqual({ woken: total, skipped: 0, unreadable: DAMAGED });
  expect(await sweep(store, engine)).toEqual({ woken: 0, skipped: 0, unreadable: 0 });
});

test('a sweep with a limit wakes sound sessions, however many unreadable ones come before them', async () => {
  const { store } = await world();
  const woken: string[] = [];
  const engine = { wake: async (sessionId: string) => void woken.push(sessionId) };
  await sweep(store, engine, { limit: 1 });
  expect(woken.filter((id) => SOUND.includes(id))).toEqual(['one']);
});

test('a runtime names an unreadable session, shows it to its owner only, and deletes it', async () => {
  const { runtime } = await world();
  const refusal = { code: 'STATE_FORMAT', message: expect.stringContaining('"bad7"') };
  for (const call of [
    () => runtime.info('bad7'),
    () => runtime.inspect('bad7'),
    () => runtime.execute('bad7', sendMessage('Hello?')),
    () => runtime.for('ann').info('bad7'),
  ])
    await expect(call()).rejects.toMatchObject(refusal);
  const other = runtime.for('bob');
  expect(await other.list()).toEqual({ sessions: [], unreadable: [], cursor: undefined });
  await expect(other.info('bad7')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  await expect(other.delete('bad7')).resolves.toBe(false);
  await expect(runtime.for('ann').delete('bad7')).resolves.toBe(true);
  await expect(runtime.info('bad7')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
});
