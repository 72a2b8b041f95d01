import { pendingApprovals, textOf } from '@holdfast/core';
import { until } from 'test-servers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { faultText } from '../src/faults.ts';
import { historyProblems, problemsOf } from './checks.ts';
import { TESTED_STORES, type NewLocation } from './servers.ts';
import type { WorkerProcess } from './worker-process.ts';
import { isFrozen, World } from './world.ts';
import { EFFORT } from './effort.ts';

const RACES = EFFORT > 1 ? 100 : 30;
/** The errors that the later process may get. */
const REFUSALS = ['SESSION_BUSY', 'APPROVAL_DECIDED', 'APPROVAL_NOT_FOUND'];

interface Reply {
  readonly status?: string;
  readonly name?: string;
  readonly code?: string;
}

describe.each(TESTED_STORES)('$name', ({ name, start }) => {
  let newLocation: NewLocation;
  let stop: () => Promise<void>;
  let world: World;
  beforeAll(async () => {
    ({ newLocation, stop } = await start());
  });
  afterAll(() => stop());
  beforeEach(async () => {
    world = await World.of(name, newLocation);
  });
  afterEach(() => world.close());

  /** Starts two processes that wait for requests. */
  async function two(): Promise<readonly [WorkerProcess, WorkerProcess]> {
    const pair = [1, 2].map(() => world.start(['act'], { leaseSeconds: 30 })) as [
      WorkerProcess,
      WorkerProcess,
    ];
    await Promise.all(pair.map((worker) => worker.line()));
    return pair;
  }

  test(`of two processes that approve a call at once, one succeeds, ${RACES} times`, async () => {
    const pair = await two();
    const refusals: Record<string, number> = {};
    for (let race = 1; race <= RACES; race++) {
      const sessionId = `approval-${race}`;
      await world.runtime.create({ definition: { name: 'payer' }, sessionId });
      const message = JSON.stringify({ sessionId, kind: 'approval', steps: 1, calls: 1 });
      expect(await ask(pair[0], { sessionId, message })).toEqual({ status: 'suspended' });
      const [asked] = pendingApprovals((await world.load(sessionId)).state);
      const replies = await Promise.all(pair.map((worker) => ask(worker, { sessionId, approve: asked?.id })));
      const refused = replies.filter(({ status }) => status === undefined);
      expect([replies.filter(({ status }) => status === 'completed').length, refused.length]).toEqual([1, 1]);
      const code = refused[0]?.code ?? '';
      expect(REFUSALS).toContain(code);
      refusals[code] = (refusals[code] ?? 0) + 1;
    }
    const entries = world.journal.read();
    expect(entries.filter(({ type }) => type === 'called')).toHaveLength(RACES);
    expect(problemsOf(world.journal.readBySession())).toEqual([]);
    console.log(`${name}: ${RACES} approvals, each twice; refused with`, refusals);
  });

  test('two messages that are sent at once are both answered', async () => {
    const pair = await two();
    const sessions = Array.from({ length: 30 }, (_, index) => `messages-${index}`);
    for (const sessionId of sessions) {
      await world.runtime.create({ definition: { name: 'payer' }, sessionId });
      const message = JSON.stringify({ sessionId, kind: 'once', steps: 1, calls: 1 });
      await ask(pair[0], { sessionId, message });
      await Promise.all(pair.map((worker, index) => ask(worker, { sessionId, message: `note ${index}` })));
    }
    // A message that arrived just after the end of the other run is in the inbox, and the session is due.
    const { code, complaints } = await world.run(['finish'], { leaseSeconds: 30 });
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    for (const sessionId of sessions) {
      const session = await world.load(sessionId);
      const texts = session.state.messages.toArray().filter(({ role }) => role === 'user');
      expect(texts.map(textOf).slice(1).toSorted()).toEqual(['note 0', 'note 1']);
      expect(session.state.finalResponse?.split(/(?= note)/).toSorted()).toEqual([
        ' note 0',
        ' note 1',
        'Done.',
      ]);
      expect(historyProblems(session)).toEqual([]);
    }
    expect(problemsOf(world.journal.readBySession())).toEqual([]);
  });

  test.each(['inference', 'before-effect', 'after-effect', 'before-release'] as const)(
    'a session that is deleted while a worker has it (%s) is gone, and the work ends',
    async (place) => {
      const plan = { sessionId: 'deleted', kind: 'once', steps: 2, calls: 1 } as const;
      await world.begin(plan);
      const worker = world.start(['drive', plan.sessionId], {
        fault: faultText({ place, nth: 1, act: 'freeze' }),
      });
      await until('it works', () => isFrozen(worker));
      const before = world.journal.read().length;
      expect(await world.runtime.delete(plan.sessionId)).toBe(true);
      worker.kill('SIGCONT');
      const { code, complaints } = await worker.ended;
      expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
      expect(await world.store.exists(plan.sessionId)).toBe(false);
      const after = world.journal.read().slice(before);
      expect(after.filter(({ type }) => type === 'called' || type === 'saved')).toEqual([]);
    },
  );

  test('a worker of a deleted session does not change the new session with its id', async () => {
    const plan = { sessionId: 'anew', kind: 'once', steps: 2, calls: 1 } as const;
    await world.begin(plan);
    const fault = faultText({ place: 'inference', nth: 1, act: 'freeze' });
    const worker = world.start(['serve'], { fault });
    await until('it works', () => isFrozen(worker));
    await world.runtime.delete(plan.sessionId);
    await world.runtime.create({ definition: { name: 'payer' }, sessionId: plan.sessionId });
    const made = await world.load(plan.sessionId);
    worker.kill('SIGCONT');
    worker.leave();
    const { code, complaints } = await worker.ended;
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    expect(JSON.stringify(await world.load(plan.sessionId))).toBe(JSON.stringify(made));
  });
});

async function ask(worker: WorkerProcess, what: object): Promise<Reply> {
  worker.tell(what);
  return JSON.parse((await worker.line()) ?? '{}') as Reply;
}
