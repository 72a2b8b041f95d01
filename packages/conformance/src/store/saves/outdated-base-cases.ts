import assert from 'node:assert/strict';
import { MemorySessionStore, type AgentSession, type AgentState } from '@holdfast/core';
import { nextStep, stateOfSteps } from '../case/execution-states.ts';
import { sampleMessages } from '../case/sample-messages.ts';
import {
  emptyState,
  newSession,
  START,
  storeCase,
  testClock,
  type CaseContext,
  type StoreNeed,
  type UngroupedCase,
} from '../case/store-case.ts';

const OWNER = 'Ada';
const MISSING = { code: 'SESSION_NOT_FOUND', sessionId: 'a' };
const LEASE = { workerId: 'Ben', leaseSeconds: 60 };

/** Ten messages, two metadata entries, and an execution with two closed steps. */
const baseState = (): AgentState =>
  stateOfSteps(emptyState().withMessages(sampleMessages(10), START).withMetadata('n', 0, START), 2);

/** Replaces the messages by what a function makes of them. */
const edited = (state: AgentState, edit: (all: Messages) => Messages): AgentState =>
  state.withMessages(edit(state.messages.toArray()), START);
type Messages = ReturnType<typeof sampleMessages>;

const said = (state: AgentState, text: string, count = 1): AgentState =>
  edited(state, (all) => [...all, ...sampleMessages(count, all.length, text)]);

const saved = ({ store }: CaseContext, base: AgentSession, state: AgentState): Promise<AgentSession> =>
  store.save(base.withState(state), { base });

/** Saves the state, sets the storage back to before, and returns the lost session and the stored one. */
async function lost(context: CaseContext, base: AgentSession, state: AgentState): Promise<LostSave> {
  const { abilities, store } = context;
  assert(abilities.remember, 'The harness lacks the ability "remember".');
  const goBack = await abilities.remember();
  const last = await saved(context, base, state);
  await goBack();
  const stored = await store.load('a');
  assert(stored);
  return { last, stored };
}
interface LostSave {
  readonly last: AgentSession;
  readonly stored: AgentSession;
}

/** A change after a store returned a session. The base is this session, unless the change returns another one. */
interface Situation {
  readonly needs?: readonly StoreNeed[];
  readonly happens: (context: CaseContext, base: AgentSession) => Promise<AgentSession | void>;
}

/** Saves a change of the state. */
const after = (change: (state: AgentState) => AgentState): Situation => ({
  happens: async (context, base) => void (await saved(context, base, change(base.state))),
});

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'from before messages and steps were added': after((state) => nextStep(said(state, 'more', 3))),
  'from before the last messages were dropped': after((state) => edited(state, (all) => all.slice(0, 7))),
  'from before a message was replaced': after((state) =>
    edited(state, (all) => [...all.slice(0, -1), ...sampleMessages(1, 50, 'other')]),
  ),
  'from before the first message was replaced, and another added': after((state) =>
    edited(said(state, 'more'), (all) => [...sampleMessages(1, 50, 'other'), ...all.slice(1)]),
  ),
  'from before an execution ended, and another began': after((state) =>
    stateOfSteps(state.withExecutionCompleted(START).forNextExecution(START), 3),
  ),
  'that has more messages than the restored storage': {
    needs: ['remember'],
    happens: async (context, base) => (await lost(context, base, said(base.state, 'lost', 3))).last,
  },
  'that has as many messages as the restored storage, in the same version': {
    needs: ['remember'],
    async happens(context, base) {
      const { last, stored } = await lost(context, base, said(base.state, 'lost'));
      const actual = await saved(context, stored, said(stored.state, 'kept'));
      assert.deepEqual(actual.revision, last.revision);
      return last;
    },
  },
  'that has fewer messages than the restored storage, but other ones': {
    needs: ['remember'],
    async happens(context, base) {
      const { last, stored } = await lost(context, base, said(base.state, 'lost', 3));
      const actual = await saved(context, stored, said(stored.state, 'kept', 4));
      await saved(context, actual, said(actual.state, 'more'));
      return last;
    },
  },
  'that was deleted and created again with more messages': {
    async happens(context, base) {
      await context.store.delete('a');
      const anew = await context.created('a', { owner: OWNER, state: said(base.state, 'new') });
      await saved(context, anew, said(anew.state, 'newer'));
    },
  },
  'that is a fork': {
    async happens(context, base) {
      const state = said(base.state, 'by the fork');
      const fork = await context.created('b', { owner: OWNER, forkedFrom: 'a', state });
      await saved(context, base, said(said(base.state, 'by the origin'), 'more'));
      return fork;
    },
  },
  'of another store': {
    async happens(context, base) {
      const others = new MemorySessionStore({ clock: testClock() });
      const state = said(
        edited(base.state, (all) => all.slice(0, -1)),
        'elsewhere',
      );
      const other = await others.create(newSession('a', { owner: OWNER, state }));
      await saved(context, base, said(base.state, 'more'));
      return other;
    },
  },
};

/** A session that was read with a base, and the epoch of its claim. */
interface ReadWithBase {
  readonly session: AgentSession | undefined;
  readonly epoch?: number;
}

const loaded = async ({ store }: CaseContext, base: AgentSession): Promise<ReadWithBase> => ({
  session: await store.load('a', { base }),
});

async function claimed({ store }: CaseContext, base: AgentSession): Promise<ReadWithBase> {
  const { session, claim } = await store.claim('a', { ...LEASE, base });
  return { session, epoch: claim.epoch };
}

/** Asserts that a session that was read with a base is the stored one, and that a save on top of it is right. */
async function assertStored({ store }: CaseContext, { session, epoch }: ReadWithBase): Promise<void> {
  const stored = await store.load('a');
  assert(session && stored);
  assert.deepEqual(session.toJSON(), stored.toJSON());
  const next = (state: AgentState): AgentState => said(state, 'next').withMetadata('n', 'next', START);
  const result = await store.save(session.withState(next(session.state)), { base: session, epoch });
  assert.deepEqual(result.state.toJSON(), next(stored.state).toJSON());
  assert.deepEqual((await store.load('a'))?.toJSON(), result.toJSON());
}

const situations = Object.entries(SITUATIONS).map(([what, { needs, happens }]) =>
  storeCase(
    `a read with a base ${what}`,
    async (context) => {
      const { store, created } = context;
      for (const read of [loaded, claimed]) {
        const first = await created('a', { owner: OWNER, state: baseState() });
        const base = (await happens(context, first)) ?? first;
        await assertStored(context, await read(context, base));
        for (const id of ['a', 'b']) await store.delete(id);
      }
    },
    { needs },
  ),
);

const owners = storeCase('a read with a base finds no session of another owner', async (context) => {
  const { store, created } = context;
  const base = await created('a', { owner: OWNER, state: baseState() });
  const current = await saved(context, base, said(base.state, 'more'));
  for (const known of [base, current]) {
    assert.equal(await store.load('a', { owner: 'Bo', base: known }), undefined);
    await assert.rejects(store.claim('a', { ...LEASE, owner: 'Bo', base: known }), MISSING);
  }
  await store.delete('a');
  await created('a', { owner: 'Bo', state: said(baseState(), 'by Bo') });
  assert.equal(await store.load('a', { owner: OWNER, base }), undefined);
  await assertStored(context, { session: await store.load('a', { owner: 'Bo', base }) });
});

/**
 * Bases with other content than the store has. A store may read only what was added, but returns what a load without a
 * base returns.
 */
export const outdatedBaseCases: readonly UngroupedCase[] = [...situations, owners];
