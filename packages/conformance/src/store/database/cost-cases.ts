import assert from 'node:assert/strict';
import { createAgentLoop, SessionRuntime, tool, type AgentSession, type AgentState } from '@holdfast/core';
import { nextStep, stateOfSteps } from '../case/execution-states.ts';
import { sampleMessages } from '../case/sample-messages.ts';
import {
  emptyState,
  START,
  storeCase,
  type StoreCost,
  type UngroupedCase,
  type TestedStore,
} from '../case/store-case.ts';

const TOLERANCE = 0.1;
const [FEW, MANY] = [10, 10_000];

const made = new Map<number, AgentState>();

/** A state with this many messages. */
const conversation = (messages: number): AgentState =>
  emptyState().withMessages(sampleMessages(messages), START);
const execution = (messages: number): AgentState => {
  const state = made.get(messages) ?? stateOfSteps(emptyState(), messages / 2);
  made.set(messages, state);
  return state;
};

const STATES = { 'a conversation': conversation, 'an execution': execution };

interface Measured {
  readonly store: TestedStore;
  /** The session as the store returned it last. */
  readonly base: AgentSession;
}

/** The steps of a cost case. */
interface CostSteps<T> {
  /** The sizes of the two sessions: first the small one, then the large one. */
  readonly sizes?: readonly [few: number, many: number];
  readonly stateOf?: (messages: number) => AgentState;
  /** Runs before the measurement. */
  readonly prepare: (measured: Measured & { readonly size: number }) => Promise<T>;
  /** The measured operation. */
  readonly act: (prepared: T) => Promise<unknown>;
}

/** Creates a case that asserts that an operation costs the same for a small and for a large session. */
function costCase<T>(name: string, steps: CostSteps<T>): UngroupedCase {
  const { sizes = [FEW, MANY], stateOf = conversation, prepare, act } = steps;
  return storeCase(
    name,
    async ({ store, session, abilities }) => {
      const { measure } = abilities;
      assert(measure, 'The harness lacks the ability "measure".');
      const costOf = async (sessionId: string, size: number): Promise<StoreCost> => {
        const base = await store.create(session(sessionId, { state: stateOf(size) }));
        const prepared = await prepare({ store, base, size });
        const before = await measure();
        await act(prepared);
        const after = await measure();
        return { requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
      };
      const [few, many] = sizes;
      await costOf('warm', few); // The first operation of a store has extra costs, so it counts for neither size.
      const [short, long] = [await costOf('few0', few), await costOf('many', many)];
      const costs = `${JSON.stringify(short)} at ${few}, ${JSON.stringify(long)} at ${many}`;
      assert(short.requests > 0 && short.bytes > 0, `No traffic was measured: ${costs}`);
      assert.equal(long.requests, short.requests, costs);
      assert(Math.abs(long.bytes - short.bytes) <= TOLERANCE * short.bytes, costs);
    },
    { needs: ['measure'] },
  );
}

/** A cost case whose operation works on a session that the store has returned. */
function costOf(
  name: string,
  stateOf: (messages: number) => AgentState,
  act: (measured: Measured) => Promise<unknown>,
): UngroupedCase {
  return costCase(name, { stateOf, prepare: async (measured) => measured, act });
}

const saves = Object.entries(STATES).flatMap(([what, stateOf]) => [
  costOf(`a step in ${what} costs the same for any length`, stateOf, async ({ store, base }) => {
    await store.save(base.withState(nextStep(base.state)), { base, operationId: 'op' });
  }),
  costOf(`a save without changes in ${what} costs the same for any length`, stateOf, ({ store, base }) =>
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
  costOf(
    'enqueue, list and due cost the same for any length of the session',
    conversation,
    async ({ store, base }) => {
      await store.enqueue(base.sessionId, { id: 'i', content: { text: 'Hello.' } });
      await store.list({ limit: 1 });
      await store.due({ limit: 1 });
      await store.exists(base.sessionId);
    },
  ),
];

const [ADA, BEN] = [
  { workerId: 'Ada', leaseSeconds: 60 },
  { workerId: 'Ben', leaseSeconds: 60 },
];

const claims = [
  costOf(
    'a claim with a base costs the same for any length of the session',
    conversation,
    async ({ store, base }) => {
      const { claim } = await store.claim(base.sessionId, { ...ADA, base });
      await store.renew(claim, ADA);
      await store.release(claim);
    },
  ),
  costOf('a load with a base costs the same for any length of the session', conversation, ({ store, base }) =>
    store.load(base.sessionId, { base }),
  ),
  costCase('a load and a claim with an outdated base cost the same for any length of the session', {
    sizes: [FEW, 1_000],
    stateOf: execution,
    async prepare({ store, base }) {
      await store.save(base.withState(nextStep(base.state)), { base });
      return { store, base };
    },
    async act({ store, base }) {
      await store.load(base.sessionId, { base });
      await store.claim(base.sessionId, { ...ADA, base });
    },
  }),
  costCase('a refused claim costs the same for any length of the session', {
    async prepare({ store, base }) {
      await store.claim(base.sessionId, ADA);
      return () => store.claim(base.sessionId, BEN);
    },
    act: (claim) => assert.rejects(claim, { code: 'SESSION_BUSY' }),
  }),
  costCase('a step of a runtime that knows the session costs the same for any length of it', {
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

/** An agent that calls its tool again and again. */
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

/**
 * The numbers of items in the inbox. The large one is only 400, so that the tests need not send 5,000 requests in each
 * run.
 */
const ITEMS = [1, 400] as const;

const fill = async ({ store, base, size }: Measured & { readonly size: number }): Promise<void> => {
  for (let index = 0; index < size; index++) {
    await store.enqueue(base.sessionId, { id: `item ${10_000 + index}`, content: { text: 'Hello.' } });
  }
};

const inboxes = [
  costCase('an enqueue costs the same for any number of waiting items', {
    sizes: ITEMS,
    stateOf: () => conversation(FEW),
    async prepare(measured) {
      await fill(measured);
      return measured;
    },
    act: ({ store, base }) =>
      store.enqueue(base.sessionId, { id: 'one more 1', content: { text: 'Hello.' } }),
  }),
  costCase('using an item costs the same for any number of waiting items', {
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

/** The costs of operations. */
export const costCases: readonly UngroupedCase[] = [...saves, ...others, ...claims, ...inboxes];
