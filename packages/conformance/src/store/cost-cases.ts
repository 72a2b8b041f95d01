import assert from 'node:assert/strict';
import type { AgentSession, AgentState, SessionStore } from '@holdfast/core';
import { nextStep, stateOfSteps } from './execution-states.ts';
import { sampleMessages } from './sample-messages.ts';
import { emptyState, START, storeCase } from './store-case.ts';
import type { StoreCost, UngroupedCase } from './store-case.ts';

const TOLERANCE = 0.1;
const [FEW, MANY] = [10, 5_000];

const made = new Map<number, AgentState>();

/** States with so many messages. */
const conversation = (messages: number): AgentState =>
  emptyState().withMessages(sampleMessages(messages), START);
const execution = (messages: number): AgentState => {
  const state = made.get(messages) ?? stateOfSteps(emptyState(), messages / 2);
  made.set(messages, state);
  return state;
};

const STATES = { 'a conversation': conversation, 'one execution': execution };

interface Measured {
  readonly store: SessionStore;
  /** As the store answered it last. */
  readonly base: AgentSession;
}

/** Asserts that something costs the same for a short session as for a long one. */
function costCase(
  name: string,
  stateOf: (messages: number) => AgentState,
  act: (measured: Measured) => Promise<unknown>,
): UngroupedCase {
  return storeCase(
    name,
    async ({ store, session, abilities }) => {
      const { measure } = abilities;
      assert(measure, 'The harness cannot measure.');
      const costOf = async (sessionId: string, messages: number): Promise<StoreCost> => {
        const base = await store.create(session(sessionId, { state: stateOf(messages) }));
        const before = await measure();
        await act({ store, base });
        const after = await measure();
        return { requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
      };
      await costOf('warm', FEW); // what is done once for a store belongs to neither
      const [short, long] = [await costOf('few0', FEW), await costOf('many', MANY)];
      const costs = `${JSON.stringify(short)} at ${FEW} messages, ${JSON.stringify(long)} at ${MANY}`;
      assert(short.requests > 0 && short.bytes > 0, `Nothing was measured: ${costs}`);
      assert.equal(long.requests, short.requests, costs);
      assert(Math.abs(long.bytes - short.bytes) <= TOLERANCE * short.bytes, costs);
    },
    { needs: 'measure' },
  );
}

const saves = Object.entries(STATES).flatMap(([what, stateOf]) => [
  costCase(`a step in ${what} costs the same however long it is`, stateOf, async ({ store, base }) => {
    await store.save(base.withState(nextStep(base.state)), { base, operationId: 'op' });
  }),
  costCase(`a save of nothing in ${what} costs the same however long it is`, stateOf, ({ store, base }) =>
    store.save(base, { base }),
  ),
]);

const others = [
  costCase('ten steps cost the same after a long conversation', conversation, async ({ store, base }) => {
    let session = base;
    for (let count = 0; count < 10; count++) {
      session = await store.save(session.withState(nextStep(session.state)), { base: session });
    }
  }),
  costCase('inbox, lists and due times cost the same', conversation, async ({ store, base }) => {
    await store.enqueue(base.sessionId, { id: 'i', content: { text: 'Hello.' } });
    await store.list({ limit: 1 });
    await store.due({ limit: 1 });
    await store.exists(base.sessionId);
  }),
];

/** What things may cost. */
export const costCases: readonly UngroupedCase[] = [...saves, ...others];
