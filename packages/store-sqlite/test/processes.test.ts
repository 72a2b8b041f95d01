import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { AgentSession } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { newSession } from '@holdfast/conformance';
import { temporaryFolders } from './temporary-folders.ts';

const { newFile } = temporaryFolders();
const COUNT_UP = fileURLToPath(new URL('children/count-up.ts', import.meta.url));
const ADD_UP = fileURLToPath(new URL('children/add-up.ts', import.meta.url));
const SAVE_UNTIL_KILLED = fileURLToPath(new URL('children/save-until-killed.ts', import.meta.url));
const SAVE_MANY_UNTIL_KILLED = fileURLToPath(new URL('children/save-many-until-killed.ts', import.meta.url));
const children: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that runs a file of `children/`, and its output. */
function start(file: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['--conditions=@holdfast/source', '--no-warnings', file, ...args]);
  children.push(child);
  // The error output of a dead process states the cause. An error of writing to its closed input adds nothing.
  child.stdin.on('error', () => undefined);
  let complaints = '';
  child.stderr.on('data', (data) => (complaints += String(data)));
  const lines = createInterface(child.stdout);
  const closed = once(lines, 'close');
  const exited = once(child, 'exit').then(async ([code, signal]: unknown[]) => {
    await closed;
    return { code, signal, complaints };
  });
  return { child, lines, exited };
}

/** The result of SQLite's integrity check of the file. */
function examine(path: string): object | undefined {
  const database = new DatabaseSync(path);
  const result = database.prepare('PRAGMA integrity_check').get();
  database.close();
  return result;
}

async function loadVictim(store: SqliteSessionStore): Promise<AgentSession> {
  const loaded = await store.load('victim');
  if (loaded === undefined) throw new Error('The session is gone.');
  return loaded;
}

/** Lets processes begin at the same time, and waits until they have ended. */
async function runTogether(children: readonly ReturnType<typeof start>[]): Promise<void> {
  await Promise.all(children.map(({ lines, exited }) => Promise.race([once(lines, 'line'), exited])));
  for (const { child } of children) child.stdin.write('go\n');
  for (const { exited } of children) {
    await expect(exited).resolves.toEqual({ code: 0, signal: null, complaints: '' });
  }
}

/** The final count in a file, and the result of its integrity check. */
async function countIn(path: string): Promise<unknown> {
  const store = await SqliteSessionStore.open({ path });
  const counted = await store.load('counter');
  await store.close();
  return { count: counted?.state.metadata.get('count'), version: counted?.version, ...examine(path) };
}

test('4 processes that create a file together and each count 100 times count to 400', async () => {
  const path = newFile();
  await runTogether(Array.from({ length: 4 }, () => start(COUNT_UP, path, '100')));
  await expect(countIn(path)).resolves.toEqual({ count: 400, version: 401, integrity_check: 'ok' });
});

test('50 writers in 5 processes that each add 1 five times, through a runtime, lose none', async () => {
  const path = newFile();
  const store = await SqliteSessionStore.open({ path });
  await store.create(newSession('counter'));
  await store.close();
  await runTogether(Array.from({ length: 5 }, () => start(ADD_UP, path, '10', '5')));
  await expect(countIn(path)).resolves.toEqual({ count: 250, version: 251, integrity_check: 'ok' });
});

describe('a process that is killed while it saves', () => {
  test.each([2, 3, 17, 60])('loses nothing acknowledged: killed at version %i', async (last) => {
    const path = newFile();
    const { child, lines, exited } = start(SAVE_UNTIL_KILLED, path);
    let acknowledged = 0;
    lines.on('line', (line) => {
      acknowledged = Number(line);
      if (acknowledged === last) child.kill('SIGKILL');
    });
    await expect(exited).resolves.toEqual({ code: null, signal: 'SIGKILL', complaints: '' });
    expect(acknowledged).toBeGreaterThanOrEqual(last);

    const store = await SqliteSessionStore.open({ path });
    const loaded = await loadVictim(store);
    // The save during which the process was killed may be done. All saves before it must be done.
    expect([acknowledged, acknowledged + 1]).toContain(loaded.version);
    expect(loaded.state.metadata.get('text')).toBe(`${loaded.version - 1} `.repeat(2_000));
    await expect(store.save(loaded)).resolves.toHaveProperty('version', loaded.version + 1);
    await store.close();
    expect(examine(path)).toEqual({ integrity_check: 'ok' });
  });
});

const SEED = Number(process.env['SEED'] ?? 20_261_122);

/** The point at which a process dies: before or after the nth statement that begins with a text. */
interface Death {
  readonly moment: 'before' | 'after';
  readonly nth: number;
  readonly beginning: string;
}

/** Points in the first batches, the same in each run. `SEED=7` chooses others. */
function seededDeaths(count: number, statements: number): Death[] {
  let random = SEED;
  const next = (limit: number): number => {
    random = (random * 48_271) % 2_147_483_647;
    return random % limit;
  };
  return Array.from({ length: count }, () => ({
    nth: 1 + next(statements),
    moment: next(2) === 0 ? 'before' : 'after',
    beginning: '',
  }));
}

const DEATHS: readonly Death[] = [
  ...seededDeaths(10, 600),
  { moment: 'before', nth: 1, beginning: 'COMMIT' },
  { moment: 'after', nth: 1, beginning: 'COMMIT' },
  { moment: 'before', nth: 4, beginning: 'COMMIT' },
  { moment: 'after', nth: 4, beginning: 'COMMIT' },
  { moment: 'after', nth: 33, beginning: 'RELEASE' },
];

describe(`a process that is killed while 20 sessions save at once (SEED=${SEED})`, () => {
  test.each(DEATHS)(
    'loses nothing acknowledged: killed $moment statement $nth $beginning',
    async ({ moment, nth, beginning }) => {
      const path = newFile();
      const args = [path, '20', moment, String(nth), beginning];
      const { lines, exited } = start(SAVE_MANY_UNTIL_KILLED, ...args);
      const acknowledged = new Map<string, number>();
      lines.on('line', (line) => {
        const [, sessionId = '', version] = /^(.+) (\d+)$/u.exec(line) ?? [];
        acknowledged.set(sessionId, Number(version));
      });
      await expect(exited).resolves.toEqual({ code: null, signal: 'SIGKILL', complaints: '' });

      const store = await SqliteSessionStore.open({ path });
      for (let index = 0; index < 20; index++) {
        const sessionId = `victim ${index}`;
        const known = acknowledged.get(sessionId) ?? 0;
        const loaded = await store.load(sessionId);
        expect([known, known + 1]).toContain(loaded?.version ?? 0);
        if (loaded === undefined) continue;
        const text = loaded.version === 1 ? undefined : `${loaded.version - 1} `.repeat(200);
        expect(loaded.state.metadata.get('text')).toBe(text);
        await expect(store.save(loaded, { base: loaded })).resolves.toHaveProperty(
          'version',
          loaded.version + 1,
        );
      }
      await store.close();
      expect(examine(path)).toEqual({ integrity_check: 'ok' });
    },
  );
});
