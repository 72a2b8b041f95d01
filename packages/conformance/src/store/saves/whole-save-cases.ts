import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { stateOfEveryPart, withEveryPartChanged } from '../case/every-part.ts';
import { inboxOf } from '../case/inbox-contents.ts';
import { storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const SAVES = 3;
/** The reads between two turns of the event loop. */
const READS = 8;

/** The store of another process, if the harness can open one. */
async function readerOf({ store, clock, abilities }: CaseContext): Promise<SessionStore> {
  return abilities.reopen ? (await abilities.reopen(clock)).store : store;
}

/** Loads the session again and again while a save is under way. Each result is one of the two sessions. */
async function readDuring(
  reader: SessionStore,
  saving: Promise<AgentSession>,
  base: AgentSession,
): Promise<AgentSession> {
  const progress = { isOver: false };
  const end = (): void => void (progress.isOver = true);
  void saving.then(end, end);
  const seen: (AgentSession | undefined)[] = [];
  do {
    const loads: Promise<AgentSession | undefined>[] = [];
    for (let reads = 0; reads < READS; reads++) {
      loads.push(reader.load(base.sessionId));
      await Promise.resolve(); // a store in memory saves within a few microtasks: a load begins in each of them
    }
    seen.push(...(await Promise.all(loads)));
    await setImmediate();
  } while (!progress.isOver);
  const saved = await saving;
  for (const session of seen) {
    const expected = session?.version === base.version ? base : saved;
    assert.deepEqual(session, expected, `a load during a save of version ${saved.version}`);
  }
  return saved;
}

/** Saves that change every part of a session, and loads meanwhile. */
export const wholeSaveCases: readonly UngroupedCase[] = [
  storeCase('a load during a save returns all of the save or nothing of it', async (context) => {
    const { store, session } = context;
    const reader = await readerOf(context);
    await store.create(session('a', { state: stateOfEveryPart() }));
    for (let count = 0; count < SAVES; count++)
      await store.enqueue('a', { id: `item ${count}`, content: count });
    const { claim, session: claimed, inbox } = await store.claim('a', { workerId: 'Ada', leaseSeconds: 60 });
    let base = claimed;
    for (let count = 0; count < SAVES; count++) {
      const next = base.withState(withEveryPartChanged(base.state));
      const acknowledge = inbox.slice(count, count + 1);
      const saving = store.save(next, { base, epoch: claim.epoch, acknowledge });
      base = await readDuring(reader, saving, base);
    }
    await store.release(claim);
    assert.deepEqual(await inboxOf(store), []);
  }),
];
