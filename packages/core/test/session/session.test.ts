import { deepStrictEqual } from 'node:assert/strict';
import { AgentSession, AgentState, ExecutionBudget } from '@holdfast/core';
import type { AgentSessionInit } from '@holdfast/core/store';
import { steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { NO_TOTALS } from '../../src/session/session-totals.ts';
import { call, does, expectSound, nextStart, readBack, scriptedLoop, told } from '../support/builders.ts';

const definition = { name: 'helper' };
const created = (init: Partial<AgentSessionInit> = {}): AgentSession =>
  AgentSession.create({ definition, clock: steppedClock(), ...init });

/** A state after one execution of two steps. */
const finished = (from: AgentState): Promise<AgentState> =>
  scriptedLoop([call('look'), 'Done.'], { tools: [does('look')], clock: steppedClock(nextStart()) }).run(
    from,
  );

test('a new session begins with the prompt, the model and the metadata of its definition', () => {
  const llmConfig = { model: 'openai:gpt-5' };
  const metadata = { team: 'docs', deep: [{ a: null }] };
  const definition = { name: 'writer', systemPrompt: 'Be brief.', llmConfig, metadata };
  const state = expectSound(AgentSession.create({ definition, clock: steppedClock() }).state);
  expect([state.systemPrompt, state.llmConfig, state.metadata.values]).toEqual([
    'Be brief.',
    llmConfig,
    metadata,
  ]);
  const named = AgentSession.create({ definition: { name: 'writer' } }).state;
  expect([named.systemPrompt, named.llmConfig, named.metadata.values]).toEqual([undefined, undefined, {}]);
});

describe('the executions of a session', () => {
  test('are collected when another state replaces them, with their index among all', async () => {
    const first = await finished(told());
    const second = await finished(first.withUserMessage('Again.'));
    const base = created({ state: told() });
    expect([base.totals, base.endedExecutions]).toEqual([NO_TOTALS, []]);
    const one = base.withState(first);
    expect([one.endedExecutions, one.totals.executions, one.pastTotals]).toEqual([[], 1, NO_TOTALS]);
    const two = one.withState(second);
    expect(two.endedExecutions).toMatchObject([
      { index: 0, summary: { executionId: first.executionId, steps: 2, status: 'completed' } },
    ]);
    expect([two.totals.executions, two.totals.steps, two.pastTotals.steps]).toEqual([2, 4, 2]);
    const three = two.withState(AgentState.empty());
    expect(three.endedExecutions.map(({ index, summary }) => [index, summary.executionId])).toEqual([
      [0, first.executionId],
      [1, second.executionId],
    ]);
    expect(three.totals).toEqual(two.totals);
  });

  test('an execution that continues is counted once, and one that is discarded still counts', async () => {
    const started = told().withExecutionStarted(1_000);
    const base = created({ state: told() }).withState(started);
    const worked = base.withState(started.withTimeWorked(2, 2_000));
    expect([worked.totals.executions, worked.totals.seconds, worked.endedExecutions]).toEqual([1, 2, []]);
    const without = worked.withState(told());
    expect([without.totals, without.state.execution]).toEqual([worked.totals, undefined]);
    expect(without.endedExecutions).toMatchObject([{ index: 0, summary: { status: 'inProgress' } }]);
  });

  test('a revision has nothing ended, and the base of another save keeps what has ended', async () => {
    const first = await finished(told());
    const session = created({ state: first }).withState(AgentState.empty());
    const revision = { incarnation: 'i', version: 1 };
    expect(session.basedOn(revision, 5_000)).toMatchObject({ revision, endedExecutions: [{ index: 0 }] });
    expect(session.withRevision(revision, 5_000).endedExecutions).toEqual([]);
    expect(session.withRevision(revision, 5_000).totals).toEqual(session.totals);
  });
});

describe('withDescription', () => {
  const described = created({ title: 'First', labels: { channel: 'mail' } });

  test.each([
    [{}, 'First', { channel: 'mail' }],
    [{ title: 'Second' }, 'Second', { channel: 'mail' }],
    [{ labels: { team: 'sales' } }, 'First', { team: 'sales' }],
    [{ title: undefined }, undefined, { channel: 'mail' }],
    [{ labels: undefined }, 'First', undefined],
    [{ title: undefined, labels: {} }, undefined, {}],
  ])('with %j', (description, title, labels) => {
    const session = described.withDescription(description);
    expect([session.title, session.labels]).toEqual([title, labels]);
    expect([session.info.title, session.info.labels]).toEqual([title, labels]);
    expect([described.title, described.labels]).toEqual(['First', { channel: 'mail' }]);
  });

  test('freezes a copy of the labels', () => {
    const labels: Record<string, string> = { team: 'sales' };
    const session = described.withDescription({ labels });
    labels['team'] = 'other';
    expect([session.labels, Object.isFrozen(session.labels)]).toEqual([{ team: 'sales' }, true]);
  });
});

describe('the document of a session', () => {
  const facts: Partial<AgentSessionInit> = {
    owner: 'ada',
    title: 'Weather',
    labels: { '\0': '🦊' },
    budget: { maxSteps: 9, maxCost: 2 },
  };
  const versionOf = (session: AgentSession): number => session.toJSON().version;

  test.each(Object.entries(facts))('is of version 2 with %s', (name, value) => {
    const session = created({ [name]: value });
    expect([versionOf(created()), versionOf(session)]).toEqual([1, 2]);
  });

  test('is of version 1 with one execution, and of version 2 with more', async () => {
    const first = await finished(told());
    const session = created().withState(first);
    expect([versionOf(session), versionOf(session.withState(told()))]).toEqual([1, 2]);
  });

  test('of either version is read as it was written, as text and as a value', async () => {
    const first = await finished(told());
    const second = await finished(first.withUserMessage('Again.'));
    for (const session of [
      created(),
      created().withState(first),
      created(facts),
      created({ ...facts, budget: ExecutionBudget.unlimited() }).withState(first),
      created({ budget: {} }),
    ]) {
      const [text, value] = [JSON.parse(JSON.stringify(session)) as object, session.toJSON()];
      for (const document of [text, value]) deepStrictEqual(AgentSession.fromJSON(document), session);
    }
    const both = created().withState(first).withState(second);
    const read = AgentSession.fromJSON(JSON.parse(JSON.stringify(both)));
    expect([read.totals, read.pastTotals, read.endedExecutions]).toEqual([both.totals, both.pastTotals, []]);
    expect(read.state).toEqual(readBack(second));
    expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(both)));
  });

  test('of version 1 has no member of version 2, and no version has invalid ones', async () => {
    const session = created(facts).withState(await finished(told()));
    const document = JSON.parse(JSON.stringify(session.withState(told()))) as Record<string, unknown>;
    const members = ['owner', 'title', 'labels', 'budget', 'totals'];
    expect(members.filter((name) => !(name in document))).toEqual([]);
    const refused = expect.objectContaining({ code: 'STATE_FORMAT' });
    const plain = JSON.parse(JSON.stringify(created())) as object;
    for (const name of members) {
      const older = { ...plain, [name]: document[name] };
      expect(() => AgentSession.fromJSON(older)).toThrow(refused);
      expect(() => AgentSession.fromJSON({ ...document, [name]: 7 })).toThrow(refused);
      expect(() => AgentSession.fromJSON({ ...older, version: 2 })).not.toThrow();
    }
    expect(() => AgentSession.fromJSON({ ...plain, version: 3 })).toThrow(
      expect.objectContaining({ code: 'STATE_VERSION' }),
    );
  });
});
