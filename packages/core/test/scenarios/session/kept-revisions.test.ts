import fc from 'fast-check';
import {
  approve,
  cancel,
  clearHistory,
  createAgentLoop,
  deny,
  describe as describeSession,
  MemorySessionStore,
  pendingApprovals,
  regenerate,
  RunAbort,
  sendMessage,
  SessionRuntime,
  tool,
  writeMetadata,
  type AgentSession,
  type SessionAction,
} from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import type { ExecutionSummary, KeptRevision, SessionTotals } from '@holdfast/core/store';
import { manualClock, steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { NO_TOTALS, sumOfTotals } from '../../../src/session/session-totals.ts';
import { driverOf, nextStart } from '../../support/builders.ts';

/** The actions of a process, and the number of steps after which it dies; `undefined`: it does not die. */
interface Deed {
  readonly what: 'send' | 'approve' | 'deny' | 'cancel' | 'regenerate' | 'clear' | 'describe' | 'metadata';
  readonly calls: readonly ('look' | 'pay')[][];
  readonly diesAfter: number | undefined;
}

const deeds: fc.Arbitrary<Deed> = fc.record({
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant('send' as const) },
    {
      weight: 5,
      arbitrary: fc.constantFrom('approve', 'deny', 'cancel', 'regenerate', 'clear', 'describe', 'metadata'),
    },
  ),
  calls: fc.array(fc.array(fc.constantFrom('look', 'pay'), { maxLength: 2 }), { maxLength: 2 }),
  diesAfter: fc.option(fc.nat(4), { nil: undefined }),
});

const LEASE = 30;
const prices = { m: { input: 1, output: 10 } };

/** A store that keeps revisions, and a session whose saves are collected as hooks see them. */
async function world(keptRevisions: number) {
  const clock = manualClock(nextStart());
  const store = new MemorySessionStore({ clock, keptRevisions });
  const saved: AgentSession[] = [];
  /** A process, which dies after so many effects: then nothing of it reaches the store. */
  const processOf = ({ calls, diesAfter = Infinity }: Deed) => {
    const death = new AbortController();
    let effects = 0;
    const act = (): void => {
      if (effects++ >= diesAfter) death.abort(new RunAbort('lost'));
    };
    const base = { description: 'Acts.', inputSchema: { type: 'object' } };
    const tools = [
      tool({ name: 'look', ...base, execute: () => (act(), 'x'.repeat(20)) }),
      tool({ name: 'pay', ...base, needsApproval: true, execute: () => (act(), 'paid') }),
    ];
    let turn = 0;
    const driver = driverOf(async () => {
      act();
      const names = calls[turn++] ?? [];
      const usage = { inputTokens: 1_000 + turn, outputTokens: 7 };
      if (names.length === 0) return InferenceResponse.of({ text: `Done ${turn}.`, usage });
      const content = names.map((toolName, index) => ({
        type: 'tool-call' as const,
        toolCallId: `${turn}.${index}`,
        toolName,
        input: {},
      }));
      return InferenceResponse.of({ content, usage });
    });
    const ids = steppedClock(nextStart());
    const own = { ...clock, newId: () => ids.newId() };
    const runtime = new SessionRuntime({
      store,
      agents: { helper: createAgentLoop({ driver, tools, prices, clock: own }) },
      clock: own,
      leaseSeconds: LEASE,
      hooks: { afterSave: (session) => void saved.push(session) },
    });
    return { runtime, signal: death.signal };
  };
  const { runtime } = processOf({ what: 'send', calls: [], diesAfter: undefined });
  const definition = { name: 'helper', llmConfig: { model: 'm' }, systemPrompt: 'Be brief.' };
  const { sessionId } = await runtime.create({ definition, owner: 'ada' });
  return { clock, store, saved, processOf, sessionId };
}

function actionOf({ what }: Deed, index: number, { state }: AgentSession): SessionAction | undefined {
  const [call] = pendingApprovals(state);
  switch (what) {
    case 'send':
      return sendMessage(`Message ${index}`);
    case 'approve':
      return call && approve(call);
    case 'deny':
      return call && deny(call);
    case 'cancel':
      return cancel();
    case 'regenerate':
      return regenerate();
    case 'clear':
      return clearHistory();
    case 'describe':
      return describeSession({ title: `Title ${index}`, labels: { index: `${index}` } });
    case 'metadata':
      return writeMetadata('index', index);
  }
}

async function executionsOf(store: MemorySessionStore, sessionId: string): Promise<ExecutionSummary[]> {
  const found: ExecutionSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.executions(sessionId, { limit: 2, cursor });
    found.push(...page.executions);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
}

async function revisionsOf(store: MemorySessionStore, sessionId: string): Promise<KeptRevision[]> {
  const found: KeptRevision[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.revisions(sessionId, { limit: 7, cursor });
    found.push(...page.revisions);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
}

/** The totals of these executions, each a row. */
function totalOf(executions: readonly ExecutionSummary[]): SessionTotals {
  return executions
    .map(({ steps, seconds, usage }) => {
      const { inputTokens = 0, outputTokens = 0, cost = 0 } = usage;
      return { executions: 1, steps, seconds, tokens: inputTokens + outputTokens, cost };
    })
    .reduce(sumOfTotals, NO_TOTALS);
}

test('after any actions and deaths, each kept revision is the session as it was saved, and the totals are those of its executions', async () => {
  let [deaths, undone] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(deeds, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(3, 100),
      async (all, keptRevisions) => {
        const { clock, store, saved, processOf, sessionId } = await world(keptRevisions);
        for (const [index, deed] of all.entries()) {
          const { runtime, signal } = processOf(deed);
          const action = actionOf(deed, index, await runtime.get(sessionId));
          if (action) await runtime.execute(sessionId, action, { signal }).catch(() => undefined);
          if (signal.aborted) deaths++;
          clock.advance(LEASE * 2_000); // another worker can claim the session
        }
        const last = await store.load(sessionId);
        const revisions = await revisionsOf(store, sessionId);
        const versions = revisions.map(({ version }) => version);
        expect(versions[0]).toBe(last?.version);
        expect(versions).toEqual(versions.toSorted((left, right) => right - left));
        expect(versions.length).toBeLessThanOrEqual(keptRevisions);
        for (const { version, savedAt, executionStatus } of revisions) {
          const kept = await store.loadRevision(sessionId, version);
          const asSaved = saved.find((session) => session.version === version);
          if (!kept || !asSaved) throw new Error(`Version ${version} is not there.`);
          expect([kept.toJSON(), kept.totals]).toEqual([asSaved.toJSON(), asSaved.totals]);
          expect([savedAt, executionStatus]).toEqual([asSaved.updatedAt, asSaved.state.status]);
          undone += version === last?.version ? 0 : 1;
        }
        const executions = await executionsOf(store, sessionId);
        expect(last?.totals).toEqual(totalOf(executions));
        const ids = executions.map(({ executionId }) => executionId);
        expect(new Set(ids).size).toBe(ids.length);
        const begun = new Set(saved.flatMap(({ state }) => state.executionId ?? []));
        expect(ids.toSorted()).toEqual([...begun].toSorted());
      },
    ),
    cases(40),
  );
  expect(Math.min(deaths, undone)).toBeGreaterThan(0);
});
