import assert from 'node:assert/strict';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { InboxItemRef, SessionClaim } from '@holdfast/core/store';
import { itemIdsOf, named } from './inbox-contents.ts';
import { stateInStep } from './execution-states.ts';
import { emptyState, storeCase, withFact } from './store-case.ts';
import type { CaseContext, Fault, StoreFaults, UngroupedCase } from './store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/** The sessions that exist before an operation. */
interface Prepared {
  readonly store: SessionStore;
  readonly unsaved: AgentSession;
  /** A session without a claim. */
  readonly idle: AgentSession;
  /** A claimed session with two items in its inbox. */
  readonly base: AgentSession;
  readonly claim: SessionClaim;
}

/** An operation of a store. After a failure, it is repeated with the same arguments. */
interface Operation {
  readonly ask: (prepared: Prepared) => Promise<unknown>;
  /** Asserts the result of a repetition, when the first attempt was done although it failed. */
  readonly again?: (result: PromiseSettledResult<unknown>) => void;
  /** Asserts that the operation was done exactly once. */
  readonly assertDone: (prepared: Prepared) => Promise<void>;
}

const answersFalse = (result: PromiseSettledResult<unknown>): void =>
  assert.deepEqual(result, { status: 'fulfilled', value: false });

async function assertSaved({ store, base }: Prepared): Promise<void> {
  const loaded = await store.load(base.sessionId);
  assert.equal(loaded?.version, base.version + 1);
  assert.equal(loaded.state.metadata.get('n'), 1);
  assert.deepEqual(loaded.state.currentStep, base.state.currentStep);
}

const save = (
  { store, base, claim }: Prepared,
  acknowledge: readonly InboxItemRef[] = [],
): Promise<unknown> =>
  store.save(withFact(base, 'n', 1), { base, operationId: 'op', epoch: claim.epoch, acknowledge });

const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: {
    ask: ({ store, unsaved }) => store.create(unsaved),
    again: (result) => assert(result.status === 'rejected' && result.reason.kind === 'exists'),
    assertDone: async ({ store, unsaved }) => {
      const loaded = await store.load(unsaved.sessionId);
      assert.equal(loaded?.version, 1);
      assert.deepEqual(loaded.state, unsaved.state);
    },
  },
  save: { ask: (prepared) => save(prepared), assertDone: assertSaved },
  acknowledge: {
    ask: (prepared) => save(prepared, named('i')),
    assertDone: async (prepared) => {
      const { store, base, claim } = prepared;
      await assertSaved(prepared);
      assert.equal(await store.enqueue(base.sessionId, { id: 'i', content: 2 }), false);
      assert.deepEqual(await itemIdsOf(store, claim), ['j']);
    },
  },
  claim: {
    ask: ({ store, idle }) => store.claim(idle.sessionId, ADA),
    assertDone: async ({ store, idle }) => {
      const { claim, attempt, session } = await store.claim(idle.sessionId, ADA);
      assert.deepEqual([claim.epoch, attempt, session], [1, 1, idle]);
    },
  },
  renew: {
    ask: ({ store, claim }) => store.renew(claim, { leaseSeconds: 90 }),
    assertDone: async ({ store, base, claim }) => {
      const asked = store.claim(base.sessionId, { workerId: 'Ben', leaseSeconds: 60 });
      await assert.rejects(asked, { code: 'SESSION_BUSY', until: claim.until + 30_000 });
    },
  },
  release: {
    ask: ({ store, claim }) => store.release(claim),
    again: answersFalse,
    assertDone: async ({ store, base }) => {
      const { claim, attempt } = await store.claim(base.sessionId, { workerId: 'Ben', leaseSeconds: 60 });
      assert.deepEqual([claim.epoch, attempt], [2, 1]);
    },
  },
  enqueue: {
    ask: ({ store, base }) => store.enqueue(base.sessionId, { id: 'k', content: { n: 1 } }),
    again: answersFalse,
    assertDone: async ({ store, base, claim }) => {
      assert.deepEqual(await itemIdsOf(store, claim), ['i', 'j', 'k']);
      assert.deepEqual(await store.load(base.sessionId), base);
    },
  },
  delete: {
    ask: ({ store, base }) => store.delete(base.sessionId, { revision: base.revision }),
    again: answersFalse,
    assertDone: async ({ store, base }) => {
      assert.equal(await store.load(base.sessionId), undefined);
      assert.equal(await store.exists(base.sessionId), false);
    },
  },
  load: {
    ask: async ({ store, base }) => assert.deepEqual(await store.load(base.sessionId), base),
    assertDone: async () => undefined,
  },
  list: {
    ask: async ({ store, base }) => {
      const { sessions } = await store.list();
      assert(sessions.some(({ sessionId }) => sessionId === base.sessionId));
      assert.notEqual((await store.due({ at: base.createdAt + 1e9 })).sessions.length, 0);
    },
    assertDone: async () => undefined,
  },
};

async function prepared({ store, session }: CaseContext, turn: number): Promise<Prepared> {
  const id = `session ${turn}`;
  const state = stateInStep(emptyState());
  const idle = await store.create(session(`idle ${id}`, { state }));
  await store.create(session(id, { state }));
  for (const item of ['i', 'j']) await store.enqueue(id, { id: item, content: item });
  const { claim, session: base } = await store.claim(id, ADA);
  return { store, unsaved: session(`new ${id}`, { state }), idle, base, claim };
}

/** Reads everything that a caller can read without changing it. */
async function world({ store, unsaved, base }: Prepared): Promise<unknown> {
  const { sessions } = await store.due({ at: base.createdAt + 1e9, limit: 100 });
  return [await store.load(base.sessionId), await store.load(unsaved.sessionId), sessions];
}

const MAX_REQUESTS = 50;

/**
 * Runs an operation while its nth request meets a fault, then repeats it if it failed. Returns whether the operation
 * sent an nth request.
 */
async function struck(
  context: CaseContext,
  operation: Operation,
  fault: Fault,
  nth: number,
): Promise<boolean> {
  const faults = context.abilities.faults as StoreFaults;
  const before = await prepared(context, nth);
  const seen = await world(before);
  await faults.arm(fault, nth);
  const [first] = await Promise.allSettled([operation.ask(before)]);
  const isStruck = await faults.disarm();
  if (first?.status === 'rejected') {
    assert(isStruck, first.reason);
    await assertHonest(first.reason, before, seen, fault);
    const isUnchanged = await isSame(before, seen);
    const [second] = await Promise.allSettled([operation.ask(before)]);
    if (!isUnchanged && operation.again && second) operation.again(second);
    else if (second?.status === 'rejected') throw second.reason;
  }
  await operation.assertDone(before);
  return isStruck;
}

async function isSame(present: Prepared, seen: unknown): Promise<boolean> {
  try {
    assert.deepEqual(await world(present), seen);
    return true;
  } catch {
    return false;
  }
}

/** Asserts that the session is unchanged, unless the error says that the write may have been done. */
async function assertHonest(error: unknown, present: Prepared, seen: unknown, fault: Fault): Promise<void> {
  const { code, isAmbiguous } = error as { code?: unknown; isAmbiguous?: unknown };
  assert(code === 'STORE_UNAVAILABLE' || code === 'STORE_THROTTLED', error as Error);
  const mayHaveChanged = code === 'STORE_UNAVAILABLE' && isAmbiguous === true && fault === 'loseReply';
  if (!mayHaveChanged) assert.deepEqual(await world(present), seen);
}

const WORDS: Readonly<Record<Fault, string>> = {
  loseReply: 'whose reply does not arrive',
  cut: 'whose connection is cut',
  throttle: 'that is throttled',
};

/** Faults of each request in turn. No write may be dropped, none may be done twice, and the error must be correct. */
export const faultCases: readonly UngroupedCase[] = (Object.keys(WORDS) as Fault[]).flatMap((fault) =>
  Object.entries(OPERATIONS).map(([what, operation]) =>
    storeCase(
      `${what} ${WORDS[fault]} is done once when it is repeated`,
      async (context) => {
        assert(context.abilities.faults, 'The harness lacks the ability "faults".');
        let nth = 1;
        while (await struck(context, operation, fault, nth)) {
          assert(++nth <= MAX_REQUESTS, 'The operation sends requests without end.');
        }
        assert(nth > 1, 'No request met the fault.');
      },
      { needs: fault },
    ),
  ),
);
