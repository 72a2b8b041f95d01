import assert from 'node:assert/strict';
import type { AgentSession } from '@holdfast/core';
import type { InboxItemRef, SessionClaim } from '@holdfast/core/store';
import { shown } from '../../run/differences.ts';
import { failureAt } from '../../run/failures.ts';
import { itemIdsOf, named } from '../case/inbox-contents.ts';
import { stateOfEveryPart, withEveryPartChanged } from '../case/every-part.ts';
import {
  storeCase,
  withFact,
  type CaseContext,
  type Fault,
  type StoreFaults,
  type UngroupedCase,
  type TestedStore,
} from '../case/store-case.ts';

const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/** The sessions that exist before an operation. */
interface Prepared {
  readonly store: TestedStore;
  readonly unsaved: AgentSession;
  /** A session without a claim. */
  readonly idle: AgentSession;
  /** A claimed session with two items in its inbox. */
  readonly base: AgentSession;
  readonly claim: SessionClaim;
  /** The claimed session with a change of every part. */
  readonly changed: AgentSession;
}

/** An operation of a store. After a failure, it is repeated with the same arguments. */
interface Operation {
  /** Whether the operation writes nothing. */
  readonly isRead?: boolean;
  readonly ask: (prepared: Prepared) => Promise<unknown>;
  /** Asserts the result of a repetition, when the first attempt was done although it failed. */
  readonly again?: (result: PromiseSettledResult<unknown>) => void;
  /** Asserts that the operation was done exactly once. */
  readonly assertDone: (prepared: Prepared) => Promise<void>;
}

const answersFalse = (result: PromiseSettledResult<unknown>): void =>
  assert.deepEqual(result, { status: 'fulfilled', value: false });

function answersExists(result: PromiseSettledResult<unknown>): void {
  const isRefused = result.status === 'rejected' && result.reason.kind === 'exists';
  const found = result.status === 'rejected' ? result.reason : 'a second session';
  assert(isRefused, `expected a conflict of kind exists, found ${shown(found)}`);
}

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
    again: answersExists,
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
  'save of every part': {
    ask: ({ store, base, claim, changed }) =>
      store.save(changed, { base, operationId: 'op', epoch: claim.epoch, acknowledge: named('i') }),
    assertDone: async ({ store, base, claim, changed }) => {
      const loaded = await store.load(base.sessionId);
      assert.equal(loaded?.version, base.version + 1);
      assert.deepEqual(loaded.state, changed.state);
      assert.deepEqual(await itemIdsOf(store, claim), ['j']);
    },
  },
  claim: {
    ask: ({ store, idle }) => store.claim(idle.sessionId, ADA),
    assertDone: async ({ store, idle }) => {
      const { claim, attempt, session } = await store.claim(idle.sessionId, ADA);
      assert.deepEqual({ epoch: claim.epoch, attempt, session }, { epoch: 1, attempt: 1, session: idle });
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
      assert.deepEqual({ epoch: claim.epoch, attempt }, { epoch: 2, attempt: 1 });
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
    isRead: true,
    ask: async ({ store, base }) => assert.deepEqual(await store.load(base.sessionId), base),
    assertDone: async () => undefined,
  },
  list: {
    isRead: true,
    ask: async ({ store, base }) => {
      const { sessions } = await store.list();
      assert(sessions.some(({ sessionId }) => sessionId === base.sessionId));
      assert.notEqual((await store.due({ at: base.createdAt + 1e9 })).sessions.length, 0);
    },
    assertDone: async () => undefined,
  },
};

async function prepared({ store, session }: CaseContext, turn: string): Promise<Prepared> {
  const id = `session ${turn}`;
  const state = stateOfEveryPart();
  const idle = await store.create(session(`idle ${id}`, { state }));
  await store.create(session(id, { state }));
  for (const item of ['i', 'j']) await store.enqueue(id, { id: item, content: item });
  const { claim, session: base } = await store.claim(id, ADA);
  const changed = base.withState(withEveryPartChanged(base.state));
  return { store, unsaved: session(`new ${id}`, { state }), idle, base, claim, changed };
}

/** Reads all that a caller can read without changing it. */
async function contentsOf({ store, unsaved, base }: Prepared): Promise<object> {
  const [session, created] = [await store.load(base.sessionId), await store.load(unsaved.sessionId)];
  const { sessions } = await store.due({ at: base.createdAt + 1e9, limit: 100 });
  return { session, created, due: new Map(sessions.map(({ sessionId, dueAt }) => [sessionId, dueAt])) };
}

const MAX_REQUESTS = 50;

const WORDS: Readonly<Record<Fault, { readonly name: string; readonly of: (request: string) => string }>> = {
  loseReply: { name: 'whose reply does not arrive', of: (request) => `with the reply of ${request} lost` },
  cut: { name: 'whose connection is cut', of: (request) => `with the connection cut before ${request}` },
  throttle: { name: 'that is throttled', of: (request) => `with ${request} throttled` },
};

/** An operation that meets a fault again and again, each time in a later request. */
class FaultRun {
  private readonly context: CaseContext;
  private readonly faults: StoreFaults;
  private readonly name: string;
  private readonly operation: Operation;
  private readonly fault: Fault;

  constructor(context: CaseContext, name: string, operation: Operation, fault: Fault) {
    assert(context.abilities.faults, 'The harness lacks the ability "faults".');
    this.faults = context.abilities.faults;
    this.context = context;
    this.name = name;
    this.operation = operation;
    this.fault = fault;
  }

  /** Injects the fault into each request of the operation in turn. */
  async injectAll(): Promise<void> {
    let nth = 1;
    while (await this.isStruck(nth)) {
      assert(++nth <= MAX_REQUESTS, `${this.name} sends more than ${MAX_REQUESTS} requests`);
    }
    assert(nth > 1, `${this.name} sent no request that the harness could make fail`);
  }

  /** Runs the operation with a fault in its nth request. Returns whether the operation sent an nth request. */
  private async isStruck(nth: number): Promise<boolean> {
    try {
      return await this.inject(nth);
    } catch (error) {
      const request = `request ${nth} of ${Math.max(nth, await this.countRequests())}`;
      throw failureAt(`${this.name}, ${WORDS[this.fault].of(request)}`, error);
    }
  }

  private async inject(nth: number): Promise<boolean> {
    const present = await prepared(this.context, String(nth));
    const contents = await contentsOf(present);
    const { result, isStruck } = await this.ask(present, nth);
    if (result.status === 'rejected') {
      if (!isStruck) throw failureAt('a call without a fault', result.reason);
      const isDenied = this.operation.isRead === true || this.fault === 'throttle';
      await assertHonest(result.reason, { present, contents, isDenied, fault: this.fault });
      await this.repeat(present, contents);
    }
    await placed('afterwards', () => this.operation.assertDone(present));
    return isStruck;
  }

  /** Repeats an operation that failed. It may have been done. */
  private async repeat(present: Prepared, contents: object): Promise<void> {
    const found = await contentsOf(present);
    const isDone = differ(found, contents);
    const [result] = await Promise.allSettled([this.operation.ask(present)]);
    const { again } = this.operation;
    if (isDone && again) await placed('the repetition of a call that was done', async () => again(result));
    else if (result.status === 'rejected') throw failureAt('the repetition', result.reason);
    if (isDone)
      await placed('a call that was done', async () => assertSame(await contentsOf(present), found));
  }

  private async ask(
    present: Prepared,
    nth: number,
  ): Promise<{ readonly result: PromiseSettledResult<unknown>; readonly isStruck: boolean }> {
    await this.faults.arm(this.fault, nth);
    const [result] = await Promise.allSettled([this.operation.ask(present)]);
    return { result, isStruck: await this.faults.disarm() };
  }

  /** Counts the requests of the operation that can meet the fault, as far as the broken store allows. */
  private async countRequests(): Promise<number> {
    let nth = 1;
    try {
      while (
        nth <= MAX_REQUESTS &&
        (await this.ask(await prepared(this.context, `counted ${nth}`), nth)).isStruck
      )
        nth++;
    } catch {
      // The store fails without a fault too.
    }
    return nth - 1;
  }
}

/** A failed call: its error must agree with it. */
interface FailedCall {
  readonly present: Prepared;
  /** The contents that a caller could read before the call. */
  readonly contents: object;
  readonly fault: Fault;
  /** Whether the call certainly wrote nothing: it only reads, or the server refused it. */
  readonly isDenied: boolean;
}

/** Asserts that nothing has changed, unless the error says that the write may have been done. */
async function assertHonest(
  error: unknown,
  { present, contents, fault, isDenied }: FailedCall,
): Promise<void> {
  const { code, isAmbiguous } = error as { code?: unknown; isAmbiguous?: unknown };
  const isExpected = code === 'STORE_UNAVAILABLE' || code === 'STORE_THROTTLED';
  assert(isExpected, `expected STORE_UNAVAILABLE or STORE_THROTTLED, found ${shown(error)}`);
  const denied = 'expected isAmbiguous false, found true: the call only reads, or the server refused it';
  assert(!isDenied || isAmbiguous !== true, denied);
  const mayHaveChanged = code === 'STORE_UNAVAILABLE' && isAmbiguous === true && fault === 'loseReply';
  if (mayHaveChanged) return;
  const claims = `an error ${code} with isAmbiguous ${String(isAmbiguous)} says that nothing was written`;
  await placed(claims, async () => assertSame(await contentsOf(present), contents));
}

/** Adds the place to the error of a failed assertion. */
async function placed(place: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw failureAt(place, error);
  }
}

const assertSame = (actual: object, expected: object): void => assert.deepEqual(actual, expected);

function differ(left: object, right: object): boolean {
  try {
    assert.deepEqual(left, right, 'They differ.');
    return false;
  } catch {
    return true;
  }
}

/** Faults of each request in turn. No write may be dropped, none may be done twice, and the error must be correct. */
export const faultCases: readonly UngroupedCase[] = (Object.keys(WORDS) as Fault[]).flatMap((fault) =>
  Object.entries(OPERATIONS).map(([name, operation]) =>
    storeCase(
      `${name} ${WORDS[fault].name} is done once when it is repeated`,
      (context) => new FaultRun(context, name, operation, fault).injectAll(),
      { needs: [fault] },
    ),
  ),
);
