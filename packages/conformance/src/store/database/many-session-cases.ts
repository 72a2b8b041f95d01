import assert from 'node:assert/strict';
import type { AgentSession, SessionStore } from '@holdfast/core';
import type { AgentSessionInit, SessionClaim } from '@holdfast/core/store';
import { stateWaiting, WAITINGS } from '../case/execution-states.ts';
import {
  emptyState,
  FEW_SESSIONS,
  MANY_SESSIONS,
  START,
  storeCase,
  withFact,
  type CaseContext,
  type ListFilter,
  type StoreCost,
  type UngroupedCase,
} from '../case/store-case.ts';

const TOLERANCE = 0.1;
/** The sessions that are created at once. */
const BATCH = 50;
/** The number of sessions that match the filters: two pages. */
const RARE = 5;
const PAGE = 3;
const ORDERS = ['createdAt', 'lastActiveAt'] as const;
const ADA = { workerId: 'Ada', leaseSeconds: 60 };

/** One value for each filter. The oldest sessions match all of them, and no other session matches any. */
const RARE_VALUES = {
  owner: 'rare',
  status: 'suspended',
  agentName: 'rare',
  parentId: 'rare',
  executionStatus: 'suspended',
  waitingFor: 'approval',
} as const satisfies Record<ListFilter, string>;

type Costs = ReadonlyMap<string, StoreCost>;
type Measure = <T>(name: string, act: () => Promise<T>) => Promise<T>;

function newSessionAt({ session }: CaseContext, index: number): AgentSession {
  const id = `session ${String(index).padStart(6, '0')}`;
  if (index < RARE) return rareSession(session, id);
  const state = index % 2 === 0 ? emptyState() : emptyState().withExecutionStatus('inProgress', START);
  return session(id, { state });
}

function rareSession(session: CaseContext['session'], id: string): AgentSession {
  const init: Partial<AgentSessionInit> = {
    owner: RARE_VALUES.owner,
    definition: { name: RARE_VALUES.agentName },
    parentId: RARE_VALUES.parentId,
    state: stateWaiting(emptyState(), WAITINGS.approval),
  };
  return session(id, init).withStatus(RARE_VALUES.status);
}

/** Creates the sessions with these numbers. Half of them are due. */
async function createSessions(context: CaseContext, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += BATCH) {
    const length = Math.min(BATCH, to - first);
    const batch = Array.from({ length }, (_, index) => newSessionAt(context, first + index));
    context.clock.time += 1_000;
    await Promise.all(batch.map((session) => context.store.create(session)));
  }
}

/** Measures the named operations of a function. */
async function costsOf(
  { abilities }: CaseContext,
  act: (measured: Measure) => Promise<unknown>,
): Promise<Costs> {
  const { measure } = abilities;
  assert(measure, 'The harness lacks the ability "measure".');
  const costs = new Map<string, StoreCost>();
  await act(async (name, operation) => {
    const before = await measure();
    const result = await operation();
    costs.set(name, difference(before, await measure()));
    return result;
  });
  return costs;
}

function difference(before: StoreCost, after: StoreCost): StoreCost {
  const cost = { requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
  return after.work === undefined ? cost : { ...cost, work: after.work - (before.work ?? 0) };
}

/** Creates a case that asserts that operations cost no more among many sessions than among few. */
function manySessionCase(
  name: string,
  needs: UngroupedCase['needs'],
  act: (context: CaseContext, measured: Measure, sessionId: string) => Promise<unknown>,
): UngroupedCase {
  return storeCase(
    name,
    async (context) => {
      const { manySessions = MANY_SESSIONS } = context.abilities;
      const measureAmong = (id: string) => costsOf(context, (measured) => act(context, measured, id));
      await createSessions(context, 0, FEW_SESSIONS);
      await measureAmong('warmup'); // The first operation of a store has extra costs, so it does not count.
      const few = await measureAmong('few000');
      await createSessions(context, FEW_SESSIONS, manySessions);
      assertNoMore(few, await measureAmong('many00'), manySessions);
    },
    { needs },
  );
}

/** Asserts that no operation costs more among many sessions. */
function assertNoMore(few: Costs, many: Costs, manySessions: number): void {
  const dearer = [...many].flatMap(([name, cost]) => {
    const before = few.get(name);
    if (before && !isMore(before, cost)) return [];
    return [
      `${name}: ${JSON.stringify(before)} at ${FEW_SESSIONS}, ${JSON.stringify(cost)} at ${manySessions}`,
    ];
  });
  assert(dearer.length === 0, `The costs grow with the number of sessions. ${dearer.join('; ')}`);
}

function isMore(few: StoreCost, many: StoreCost): boolean {
  return (
    many.requests > few.requests ||
    many.bytes > (1 + TOLERANCE) * few.bytes ||
    (many.work ?? 0) > (1 + TOLERANCE) * (few.work ?? 0)
  );
}

async function measureWork(
  { store, session }: CaseContext,
  measured: Measure,
  sessionId: string,
): Promise<void> {
  const base = await measured('create', () => store.create(session(sessionId)));
  await measured('exists', () => store.exists(sessionId));
  await measured('load', () => store.load(sessionId));
  await measured('enqueue', () => store.enqueue(sessionId, { id: 'i', content: 'Hello.' }));
  const { claim, inbox } = await measured('claim', () => store.claim(sessionId, { ...ADA, base }));
  await measured('renew', () => store.renew(claim, ADA));
  await measured('save', () => saveUnder(store, claim, base, inbox));
  await measured('release', () => store.release(claim));
  await measured('prune without expired sessions', () => store.prune());
  await measured('delete', () => store.delete(sessionId));
}

function saveUnder(
  store: SessionStore,
  { epoch }: SessionClaim,
  base: AgentSession,
  acknowledge: Awaited<ReturnType<SessionStore['claim']>>['inbox'],
): Promise<AgentSession> {
  return store.save(withFact(base, 'n', 1), { base, epoch, acknowledge });
}

async function measureDue({ store }: CaseContext, measured: Measure): Promise<void> {
  const first = await measured('due', () => store.due({ limit: PAGE }));
  assert.equal(first.sessions.length, PAGE);
  const { cursor } = first;
  const next = await measured('the next page of due', () => store.due({ limit: PAGE, cursor }));
  assert.equal(next.sessions.length, PAGE);
  const [due] = first.sessions;
  if (due) assert.equal(await measured('takeDue', () => store.takeDue(due, 1)), true);
}

async function measureLists({ store }: CaseContext, measured: Measure): Promise<void> {
  for (const order of ORDERS) {
    const query = { order, limit: PAGE };
    const { sessions, cursor } = await measured(`a list by ${order}`, () => store.list(query));
    assert.equal(sessions.length, PAGE);
    await measured(`the next page of a list by ${order}`, () => store.list({ ...query, cursor }));
  }
}

async function measureFilters({ store, abilities }: CaseContext, measured: Measure): Promise<void> {
  for (const order of ORDERS) {
    for (const filter of abilities.indexedFilters ?? []) {
      const query = { order, limit: PAGE, [filter]: RARE_VALUES[filter] };
      const name = `a list with the filter ${filter}, by ${order}`;
      const { sessions, cursor } = await measured(name, () => store.list(query));
      assert.equal(sessions.length, PAGE);
      const next = await measured(`the next page of ${name}`, () => store.list({ ...query, cursor }));
      assert.equal(next.sessions.length, RARE - PAGE);
    }
  }
}

/** The costs of operations among few and among many sessions. */
export const manySessionCases: readonly UngroupedCase[] = [
  manySessionCase('work on a session costs the same for any number of sessions', ['measure'], measureWork),
  manySessionCase('due and takeDue cost the same for any number of due sessions', ['measure'], measureDue),
  manySessionCase('a list costs the same for any number of sessions', ['measure'], measureLists),
  manySessionCase(
    'a list with a filter costs the same for any number of sessions that do not match',
    ['measure', 'indexedFilters'],
    measureFilters,
  ),
];
