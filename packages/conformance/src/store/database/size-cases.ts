import assert from 'node:assert/strict';
import { userMessage, type AgentSession, type AgentState } from '@holdfast/core';
import { itemIdsOf, named } from '../case/inbox-contents.ts';
import { START, storeCase, type CaseContext, type UngroupedCase } from '../case/store-case.ts';

const MESSAGE = { id: '10000000-0000-4000-8000-000000000001', createdAt: START };

/** A text of this many bytes of UTF-8, and about half as many UTF-16 units. */
function textOf(bytes: number): string {
  return 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The values whose size a test chooses: each function adds one of so many bytes of JSON. */
const VALUES: Readonly<Record<string, (state: AgentState, bytes: number) => AgentState>> = {
  value: (state, bytes) => state.withMetadata('text', textOf(bytes - bytesOf({ text: '' })), START),
  message: (state, bytes) => {
    const text = textOf(bytes - bytesOf(userMessage('', MESSAGE)));
    return state.withMessages([userMessage(text, MESSAGE)], START);
  },
};

/** Returns the largest size of a value. */
function limitOf({ store, abilities }: CaseContext): number {
  const { maxValueBytes } = abilities;
  assert(maxValueBytes !== undefined, 'The harness lacks the ability "maxValueBytes".');
  assert.equal(store.capabilities.maxValueBytes, maxValueBytes);
  return maxValueBytes;
}

/** Asserts that the store has the session. The texts are long, so a difference is not shown. */
async function assertStored({ store }: CaseContext, session: AgentSession): Promise<void> {
  const loaded = await store.load(session.sessionId);
  assert(JSON.stringify(loaded) === JSON.stringify(session), 'The stored session differs.');
}

/** Asserts that the store refuses a value, and has written nothing. */
async function assertRefused(
  context: CaseContext,
  what: string,
  withValue: (state: AgentState) => AgentState,
): Promise<void> {
  const { store, session, created } = context;
  const tooLarge = { code: 'SESSION_TOO_LARGE' };
  const unsaved = session(`new ${what}`);
  await assert.rejects(store.create(unsaved.withState(withValue(unsaved.state))), tooLarge);
  assert.equal(await store.exists(`new ${what}`), false);
  await created(what);
  await store.enqueue(what, { id: 'i', content: null });
  const { session: base, claim } = await store.claim(what, { workerId: 'Ada', leaseSeconds: 60 });
  const options = { base, epoch: claim.epoch, operationId: 'op', acknowledge: named('i') };
  const next = base.withState(withValue(base.state)).withStatus('suspended');
  await assert.rejects(store.save(next, options), tooLarge);
  await assertStored(context, base);
  assert.deepEqual(await itemIdsOf(store, claim), ['i']);
}

const forEachValue = (
  nameOf: (what: string) => string,
  act: (
    context: CaseContext,
    what: string,
    add: (state: AgentState, excess: number) => AgentState,
  ) => Promise<void>,
): UngroupedCase[] =>
  Object.entries(VALUES).map(([what, add]) =>
    storeCase(
      nameOf(what),
      (context) => {
        const limit = limitOf(context);
        return act(context, what, (state, excess) => add(state, limit + excess));
      },
      { needs: ['maxValueBytes'] },
    ),
  );

/** Values of the largest size, and values of one byte more. */
export const sizeCases: readonly UngroupedCase[] = [
  ...forEachValue(
    (what) => `a ${what} of the largest size is stored`,
    async (context, what, add) => {
      const base = await context.created(what);
      const saved = await context.store.save(base.withState(add(base.state, 0)), { base });
      await assertStored(context, saved);
    },
  ),
  ...forEachValue(
    (what) => `a ${what} of one byte more than the largest size is refused, and nothing is written`,
    (context, what, add) => assertRefused(context, what, (state) => add(state, 1)),
  ),
];
