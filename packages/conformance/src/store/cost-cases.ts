import assert from 'node:assert/strict';
import { createAgentLoop, SessionRuntime, tool } from '@holdfast/core';
import type { AgentSession, AgentState, SessionStore } from '@holdfast/core';
import { nextStep, stateOfSteps } from './execution-states.ts';
import { sampleMessages } from './sample-messages.ts';
import { emptyState, START, storeCase } from './store-case.ts';
import type { StoreCost, UngroupedCase } from './store-case.ts';

const TOLERANCE = 0.1;
const [FEW, MANY] = [10, 10_000];

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

/** What is done in a cost case. */
interface CostSteps<T> {
  /** How the sessions differ: a small one for the first number, a large one for the second. */
  readonly sizes?: readonly [few: number, many: number];
  readonly stateOf?: (messages: number) => AgentState;
  /** Not measured. */
  readonly prepare: (measured: Measured & { readonly size: number }) => Promise<T>;
  /** Measured. */
  readonly act: (prepared: T) => Promise<unknown>;
}

/** Asserts that something costs the same for a small session as for a large one. */
function costCase<T>(name: string, steps: CostSteps<T>): UngroupedCase {
  const { sizes = [FEW, MANY], stateOf = conversation, prepare, act } = steps;
  return storeCase(
    name,
    async ({ store, session, abilities }) => {
      const { measure } = abilities;
      assert(measure, 'The harness cannot measure.');
      const costOf = async (sessionId: string, size: number): Promise<StoreCost> => {
        const base = await store.create(session(sessionId, { state: stateOf(size) }));
        const prepared = await prepare({ store, base, size });
        const before = await measure();
        await act(prepared);
        const after = await measure();
        return { requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
      };
      const [few, many] = sizes;
      await costOf('warm', few); // what is done once for a store belongs to neither
      const [short, long] = [await costOf('few0', few), await costOf('many', many)];
      const costs = `${JSON.stringify(short)} at ${few}, ${JSON.stringify(long)} at ${many}`;
      assert(short.requests > 0 && short.bytes > 0, `Nothing was measured: ${costs}`);
      assert.equal(long.requests, short.requests, costs);
      assert(Math.abs(long.bytes - short.bytes) <= TOLERANCE * short.bytes, costs);
    },
    { needs: 'measure' },
  );
}

/** The same, of what is done with a session as the store answered it. */
function costOf(
  name: string,
  stateOf: (messages: number) => AgentState,
  act: (measured: Measured) => Promise<unknown>,
): UngroupedCase {
  return costCase(name, { stateOf, prepare: async (measured) => measured, act });
}

const saves = Object.entries(STATES).flatMap(([what, stateOf]) => [
  costOf(`a step in ${what} costs the same however long it is`, stateOf, async ({ store, base }) => {
    await store.save(base.withState(nextStep(base.state)), { base, operationId: 'op' });
  }),
  costOf(`a save of nothing in ${what} costs the same however long it is`, stateOf, ({ store, base }) =>
    store.save(base, { base }),
  ),
]);

const others = [
  costOf('ten steps cost the same after a long conversation', conversation, async ({ store, base }) => {
    let session = base;
    for (let count = 0; count < 10; count++) {
      session = await store.save(session.withState(nextStep(session.state)), { base: session });
    }
  }),
  costOf('inbox, lists and due times cost the same', conversation, async ({ store, base }) => {
    await store.enqueue(base.sessionId, { id: 'i', content: { text: 'Hello.' } });
    await store.list({ limit: 1 });
    await store.due({ limit: 1 });
    await store.exists(base.sessionId);
  }),
];

const [ADA, BEN] = [
  { workerId: 'Ada', leaseSeconds: 60 },
  { workerId: 'Ben', leaseSeconds: 60 },
];

const claims = [
  costOf(
    'a claim of a known session costs the same however long it is',
    conversation,
    async ({ store, base }) => {
      const { claim } = await store.claim(base.sessionId, { ...ADA, base });
      await store.renew(claim, ADA);
      await store.release(claim);
    },
  ),
  costOf('a load of a known session costs the same however long it is', conversation, ({ store, base }) =>
    store.load(base.sessionId, { base }),
  ),
  costCase('a claim that is refused costs the same however long the session is', {
    async prepare({ store, base }) {
      await store.claim(base.sessionId, ADA);
      return () => store.claim(base.sessionId, BEN);
    },
    act: (claim) => assert.rejects(claim, { code: 'SESSION_BUSY' }),
  }),
  costCase('a step of a runtime that knows the session costs the same however long it is', {
    async prepare({ store, base: { sessionId } }) {
      const runtime = new SessionRuntime({ store, agents: { tester: looker }, leaseSeconds: 60 });
      await runtime.enqueue(sessionId, { type: 'message', content: 'Look around.' }, { id: 'first' });
      await runtime.advance(sessionId, { maxSteps: 1 });
      return () => runtime.advance(sessionId, { maxSteps: 1 });
    },
    async act(advance) {
      assert.deepEqual((await advance()).outcome, { type: 'yield' });
    },
  }),
];

/** Looks, again and again. */
const looker = createAgentLoop({
  driver: {
    async infer() {
      return { content: [{ type: 'tool-call', toolCallId: 'call', toolName: 'look', input: {} }] };
    },
  },
  tools: [
    tool({
      name: 'look',
      description: 'Looks.',
      effect: 'readOnly',
      inputSchema: { type: 'object' },
      execute: () => 'Seen.',
    }),
  ],
});

/** Items in an inbox: nobody waits for 5,000 requests in each run of the tests. */
const ITEMS = [1, 400] as const;

const fill = async ({ store, base, size }: Measured & { readonly size: number }): Promise<void> => {
  for (let index = 0; index < size; index++) {
    await store.enqueue(base.sessionId, { id: `item ${10_000 + index}`, content: { text: 'Hello.' } });
  }
};

const inboxes = [
  costCase('to enqueue costs the same however many items wait', {
    sizes: ITEMS,
    stateOf: () => conversation(FEW),
    async prepare(measured) {
      await fill(measured);
      return measured;
    },
    act: ({ store, base }) =>
      store.enqueue(base.sessionId, { id: 'one more 1', content: { text: 'Hello.' } }),
  }),
  costCase('to take an item costs the same however many wait', {
    sizes: ITEMS,
    stateOf: () => conversation(FEW),
    async prepare(measured) {
      await fill(measured);
      const { store, base } = measured;
      const claimed = await store.claim(base.sessionId, { ...ADA, base });
      return { store, ...claimed };
    },
    async act({ store, session, claim, inbox }) {
      await store.save(session, { base: session, epoch: claim.epoch, acknowledge: inbox.slice(0, 1) });
      await store.renew(claim, { ...ADA, after: Number.MAX_SAFE_INTEGER });
    },
  }),
];

/** What things may cost. */
export const costCases: readonly UngroupedCase[] = [...saves, ...others, ...claims, ...inboxes];
