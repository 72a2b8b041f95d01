import { AgentSession, createAgentLoop, hasErrorCode, SessionRuntime } from '@holdfast/core';
import type { ClaimedSession } from '@holdfast/core/store';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { openStore } from '../src/stores.ts';
import { listedSessions } from './listed-sessions.ts';
import { randomFrom } from './random.ts';
import { serverOfBlock, TESTED_STORES } from './servers.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { forEachOf } from './world.ts';
import { EFFORT, SEED } from './effort.ts';

const SESSIONS_EACH = 20;
/** The server that stands for DynamoDB writes a few hundred items a second. */
const OWNERS: Readonly<Record<string, number>> = {
  sqlite: 1_000,
  redis: 1_000,
  dynamodb: EFFORT > 1 ? 1_000 : 15,
};
const CONCURRENCY = 100;

/** The beginnings of names that a key, a pattern or a comparison could confuse. */
const HOSTILE = [
  '',
  ' ',
  '%',
  '_',
  '*',
  '\0',
  ':',
  '#',
  '{}',
  '"',
  "'",
  '\\',
  '../',
  '__proto__',
  'é',
  'e\u0301',
  '🦊',
];
const ENDS = ['', '\0', ' ', ':', '%', 'a', 'A', '\uffff'];

/** Distinct names of owners, many of which begin with the name of another. */
function ownersOf(count: number, random: (below: number) => number): readonly string[] {
  const names = new Set<string>();
  while (names.size < count) {
    const parts = [HOSTILE, ENDS, HOSTILE, ENDS].map((texts) => texts[random(texts.length)] ?? '');
    const name = random(20) === 0 ? 'x'.repeat(990) + random(1_000) : parts.join('');
    if (name !== '') names.add(name);
  }
  return [...names];
}

async function idsOf(
  runtime: SessionRuntime,
  order: 'createdAt' | 'lastActiveAt',
): Promise<readonly string[]> {
  const sessions = await listedSessions(runtime, { limit: 7, order });
  return sessions.map(({ sessionId }) => sessionId).toSorted();
}

/** The session of another owner, its document, and the claim of its worker. */
interface Target extends Pick<ClaimedSession, 'session' | 'claim'> {
  readonly sessionId: string;
}

/** The results of calls for the session of another owner. */
async function answersTo(
  runtime: SessionRuntime,
  owner: string,
  target: Target,
): Promise<readonly unknown[]> {
  const { sessionId, session, claim } = target;
  const { store } = runtime;
  const document: unknown = { ...session.toJSON(), owner };
  const taken = AgentSession.fromJSON(document).withDescription({ title: 'Mine' });
  const { epoch } = claim;
  const calls = [
    runtime.get(sessionId),
    runtime.enqueue(sessionId, { type: 'message', content: 'Hello?' }),
    runtime.inspect(sessionId),
    runtime.executions(sessionId),
    runtime.revisions(sessionId),
    runtime.fork(sessionId),
    runtime.removeItem(sessionId, 'i'),
    runtime.advance(sessionId).then(({ error }) => Promise.reject(error as Error)),
    store.save(taken, { base: session, epoch }),
    store.save(session.withDescription({ title: 'Mine' }), { base: session, epoch }),
    store.renew(claim, { leaseSeconds: 60 }),
    store.renew({ ...claim, owner }, { leaseSeconds: 60, base: session }),
    store.release(claim),
    store.release({ ...claim, owner }, { base: session }),
    runtime.delete(sessionId),
  ];
  const results = await Promise.allSettled(calls);
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value : hasErrorCode(result.reason, 'SESSION_NOT_FOUND'),
  );
}

const REFUSED = true;
const AS_IF_MISSING = [...Array.from({ length: 12 }, () => REFUSED), false, false, false];

describe.each(TESTED_STORES)('$name', (tested) => {
  const newLocation = serverOfBlock(tested);
  const count = OWNERS[tested.name] ?? 1;

  test(`of ${count} owners, each finds and wakes its own sessions only (SEED=${SEED})`, async () => {
    const store = await openStore(tested.name, await newLocation(temporaryFolder()));
    const agents = { helper: createAgentLoop({ driver: scriptedDriver('Hi.') }) };
    const runtime = new SessionRuntime({ store, agents });
    const random = randomFrom(SEED);
    const owners = ownersOf(count, random);
    const own = new Map(owners.map((owner) => [owner, [] as string[]]));
    const all = owners.flatMap((owner) => Array.from({ length: SESSIONS_EACH }, () => owner));
    await forEachOf(all, CONCURRENCY, async (owner) => {
      const { sessionId } = await runtime.for(owner).create({ definition: { name: 'helper' } });
      own.get(owner)?.push(sessionId);
    });

    await forEachOf(owners, CONCURRENCY, async (owner) => {
      const expected = own.get(owner)?.toSorted();
      expect(await idsOf(runtime.for(owner), random(2) === 0 ? 'createdAt' : 'lastActiveAt')).toEqual(
        expected,
      );
    });
    const others = Array.from({ length: Math.min(count, 100) }, () => [
      owners[random(count)] ?? '',
      owners[random(count)] ?? '',
    ]);
    for (const [owner = '', other = ''] of others) {
      const [sessionId = ''] = own.get(other) ?? [];
      if (owner === other) continue;
      const claimed = await store.claim(sessionId, { workerId: `for ${owner}`, leaseSeconds: 60 });
      const before = await store.inspect(sessionId);
      const target = { ...claimed, sessionId };
      expect(await answersTo(runtime.for(owner), owner, target)).toEqual(AS_IF_MISSING);
      expect([await store.load(sessionId), await store.inspect(sessionId)]).toEqual([
        claimed.session,
        before,
      ]);
      expect(await store.release(claimed.claim)).toBe(true);
    }
    expect((await store.due()).sessions).toEqual([]);

    const [woken = ''] = owners;
    const [first = ''] = own.get(woken) ?? [];
    await runtime.for(woken).enqueue(first, { type: 'message', content: 'Hello.' });
    expect((await store.due()).sessions.map(({ sessionId }) => sessionId)).toEqual([first]);
    await store.close();
  });
});
