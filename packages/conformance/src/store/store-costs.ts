import assert from 'node:assert/strict';
import { userMessage, type AgentSession } from '@holdfast/core';
import type { SessionClaim } from '@holdfast/core/store';
import { nextStep } from './case/execution-states.ts';
import { sampleMessages } from './case/sample-messages.ts';
import { runCase } from '../run/case-run.ts';
import { DEFAULT_LIMIT_SECONDS } from '../run/harness.ts';
import { storeHarnessOf } from './session-store-tests.ts';
import {
  checkStoreHarness,
  emptyState,
  newSession,
  START,
  testClock,
  type SessionStoreHarness,
  type StoreCost,
  type TestedStore,
} from './case/store-case.ts';

/**
 * The operations that are measured. Each works on a session of 100 messages of 1 KB that the store has returned in this
 * process. Saves, `renew` and `release` pass it as base, as `SessionRuntime` does.
 */
export type MeasuredOperation =
  | 'create'
  | 'load'
  | 'load with base'
  | 'claim'
  | 'claim with base'
  | 'refused claim'
  | 'save a message of 1 KB'
  | 'save a step'
  | 'renew'
  | 'release'
  | 'enqueue'
  | 'list a page of one'
  | 'due';

/** The traffic of each operation. */
export type StoreCosts = Readonly<Record<MeasuredOperation, StoreCost>>;

const MESSAGES = 100;
const KILOBYTE = 'abcdefgh'.repeat(128);
const [ADA, BEN] = [
  { workerId: '60000000-0000-4000-8000-000000000001', leaseSeconds: 60 },
  { workerId: '60000000-0000-4000-8000-000000000002', leaseSeconds: 60 },
];

interface Subject {
  readonly store: TestedStore;
  base: AgentSession;
  claim: SessionClaim | undefined;
}

/**
 * The operations in the order in which they run. Each continues with the session that the operations before it changed.
 */
const OPERATIONS: Readonly<Record<MeasuredOperation, (subject: Subject) => Promise<unknown>>> = {
  async create(subject) {
    subject.base = await subject.store.create(subject.base);
  },
  load: ({ store, base }) => store.load(base.sessionId),
  'load with base': ({ store, base }) => store.load(base.sessionId, { base }),
  async claim(subject) {
    const { session, claim } = await subject.store.claim(subject.base.sessionId, ADA);
    Object.assign(subject, { base: session, claim });
  },
  async 'claim with base'(subject) {
    const { session, claim } = await subject.store.claim(subject.base.sessionId, {
      ...ADA,
      base: subject.base,
    });
    Object.assign(subject, { base: session, claim });
  },
  'refused claim': ({ store, base }) =>
    assert.rejects(store.claim(base.sessionId, BEN), { code: 'SESSION_BUSY' }),
  'save a message of 1 KB': (subject) =>
    save(subject, (base) => base.state.withUserMessage(KILOBYTE, FIRST, START)),
  'save a step': (subject) => save(subject, (base) => nextStep(base.state)),
  renew: ({ store, base, claim }) => store.renew(claimed(claim), { leaseSeconds: 60, base }),
  release: ({ store, base, claim }) => store.release(claimed(claim), { base }),
  enqueue: ({ store, base }) => store.enqueue(base.sessionId, { id: ITEM, content: { type: 'stop' } }),
  'list a page of one': ({ store }) => store.list({ limit: 1 }),
  due: ({ store }) => store.due({ limit: 1 }),
};

const ITEM = '80000000-0000-4000-8000-000000000001';
const FIRST = { id: '70000000-0000-4000-8000-000000000001', createdAt: START };

async function save(subject: Subject, change: (base: AgentSession) => AgentSession['state']): Promise<void> {
  const { store, base, claim } = subject;
  const options = { base, operationId: `${ITEM}/${base.version}`, epoch: claimed(claim).epoch };
  subject.base = await store.save(base.withState(change(base)), options);
}

function claimed(claim: SessionClaim | undefined): SessionClaim {
  assert(claim, 'The session is not claimed.');
  return claim;
}

/**
 * Measures the traffic between a store and its server for each operation. Save the result as a table beside the store's
 * tests, so that a more expensive operation is noticed. The number of requests is always the same. The bytes may differ
 * by a few, because tokens are random and a store may compress.
 */
export async function sessionStoreCosts(harness: SessionStoreHarness): Promise<StoreCosts> {
  const { measure, limitSeconds = DEFAULT_LIMIT_SECONDS } = checkStoreHarness(harness);
  assert(measure, 'The harness lacks the ability "measure".');
  return runCase('the costs of operations', limitSeconds, async (run) => {
    const { store } = await storeHarnessOf(harness, run).create(testClock());
    // The first session causes work that a store does only once, so it is not counted.
    await costsOf(store, measure, '50000000-0000-4000-8000-000000000001');
    return costsOf(store, measure, '50000000-0000-4000-8000-000000000002');
  });
}

async function costsOf(
  store: TestedStore,
  measure: () => Promise<StoreCost>,
  sessionId: string,
): Promise<StoreCosts> {
  const messages = sampleMessages(MESSAGES).map(({ id }) => userMessage(KILOBYTE, { id, createdAt: START }));
  const state = emptyState().withMessages(messages, START);
  const subject: Subject = { store, base: newSession(sessionId, { state }), claim: undefined };
  const costs: Partial<Record<MeasuredOperation, StoreCost>> = {};
  for (const [name, act] of Object.entries(OPERATIONS)) {
    const before = await measure();
    await act(subject);
    const after = await measure();
    costs[name as MeasuredOperation] = {
      requests: after.requests - before.requests,
      bytes: after.bytes - before.bytes,
    };
  }
  return costs as StoreCosts;
}

/** The tolerance for bytes: tokens are random, so their compressed size differs a little. */
const TOLERANCE = 0.03;

/**
 * Asserts that each operation causes the traffic in a table: the same number of requests, and the same bytes within 3
 * %. It also fails when an operation causes less traffic, so that the table is corrected.
 */
export async function assertStoreCosts(harness: SessionStoreHarness, expected: StoreCosts): Promise<void> {
  const costs = await sessionStoreCosts(harness);
  const operations = Object.keys(costs) as MeasuredOperation[];
  const wrong = operations.filter((name) => !isAsExpected(costs[name], expected[name]));
  assert(
    wrong.length === 0,
    `Costs differ from the table: ${wrong.join(', ')}. Measured: ${JSON.stringify(costs)}`,
  );
}

function isAsExpected({ requests, bytes }: StoreCost, expected: StoreCost | undefined): boolean {
  return requests === expected?.requests && Math.abs(bytes - expected.bytes) <= TOLERANCE * expected.bytes;
}
