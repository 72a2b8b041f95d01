import assert from 'node:assert/strict';
import { AgentSession, type AgentState } from '@holdfast/core';
import {
  applySavePlan,
  planSave,
  restoreSession,
  type SavePlan,
  type SessionContent,
} from '@holdfast/core/store';
import { steppedClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../tools/config/vitest.properties.ts';
import { NO_TEXTS, withTexts } from '../../../../src/session/store/content/content-mark.ts';
import { knownContentOf, missingIn, partsOf } from '../../../../src/session/store/content/known-content.ts';
import { restoreWithBase } from '../../../../src/session/store/content/restore-session.ts';
import { readHead } from '../../../../src/session/store/content/saved-head.ts';
import { histories, play, START } from '../../../support/arbitraries.ts';
import { told } from '../../../support/builders.ts';

const INCARNATION = 'i';
/** The number of sessions that stay as bases. */
const BASES = 6;

/** The extent of a read with a base: `parts`, or `all` when the base has other parts than the store. */
type Outcome = 'parts' | 'all';

/** Reads a content as a store does for a caller with a base. */
function readWith(
  content: SessionContent,
  info: AgentSession['info'],
  base: AgentSession,
): { readonly session: AgentSession; readonly outcome: Outcome } {
  const read = partsOf(content, missingIn(readHead(content.head), knownContentOf(base)));
  const session = restoreWithBase(read, { info, incarnation: INCARNATION }, base);
  return session
    ? { session, outcome: 'parts' }
    : { session: restoreSession(content, info, INCARNATION), outcome: 'all' };
}

/** Every mark in a head is that of the stored texts. */
function expectMarks({ head, values, lists }: SessionContent): void {
  const saved = readHead(head);
  for (const [name, mark] of saved.values)
    assert.deepEqual(mark, withTexts(NO_TEXTS, [values.get(name) ?? ''], 0), name);
  for (const [name, { length, mark }] of saved.lists) {
    const texts = lists.get(name) ?? [];
    assert.deepEqual([length, mark], [texts.length, withTexts(NO_TEXTS, texts, 0)], name);
  }
}

/** Saves each state as one process, while others keep sessions as they were loaded at any time. */
class Reader {
  readonly outcomes: Outcome[] = [];
  private content: SessionContent | undefined;
  private session: AgentSession | undefined;
  private bases: readonly AgentSession[] = [];

  save(state: AgentState): void {
    const before = this.session;
    const created = AgentSession.create({ definition: { name: 'a' }, state, clock: steppedClock() });
    const next = before?.withState(state) ?? created;
    const saved = next.withRevision({ incarnation: INCARNATION, version: next.version + 1 }, START);
    this.apply(saved, planSave(saved, before));
  }

  /** Returns a state that another process has read, with a base if it has one. */
  readWith(index: number): AgentSession {
    const { content, session } = this;
    assert(content && session);
    const full = restoreSession(content, session.info, INCARNATION);
    const base = this.bases[index % this.bases.length] ?? session;
    const { session: read, outcome } = readWith(content, session.info, base);
    this.outcomes.push(outcome);
    assert.deepStrictEqual(read, full);
    assert.deepEqual(read.toJSON(), full.toJSON());
    assert.deepStrictEqual(full, session);
    this.bases = [...this.bases.slice(1 - BASES), index % 3 === 0 ? full : read];
    return (this.session = read);
  }

  private apply(saved: AgentSession, plan: SavePlan): void {
    this.content = applySavePlan(this.content, plan);
    expectMarks(this.content);
    this.session = saved;
    if (this.bases.length < BASES) this.bases = [...this.bases, saved];
  }
}

test('a read with any earlier session gives what a full read gives, and a save on top of it adds the same', () => {
  const outcomes = { parts: 0, all: 0 };
  fc.assert(
    fc.property(histories, fc.infiniteStream(fc.nat(40)), (moves, choices) => {
      const reader = new Reader();
      play(moves, (state) => {
        reader.save(state);
        const choice = choices.next().value;
        return choice > 30 ? state : reader.readWith(choice).state;
      });
      for (const outcome of reader.outcomes) outcomes[outcome]++;
    }),
    cases(150),
  );
  expect(outcomes.parts).toBeGreaterThan(outcomes.all);
});

interface HeadJson {
  readonly marks?: readonly unknown[] | undefined;
  readonly lists: readonly (readonly unknown[])[];
}

test.each<[string, (head: HeadJson) => HeadJson]>([
  [
    'without marks',
    (head) => ({ ...head, marks: undefined, lists: head.lists.map((list) => list.slice(0, 2)) }),
  ],
  [
    'with marks of a newer release',
    ({ marks = [], ...head }) => ({
      ...head,
      marks: marks.map((mark) => (typeof mark === 'string' ? `sha:${mark}` : mark)),
      lists: head.lists.map(([name, length, , bytes]) => [name, length, 'sha:1', bytes]),
    }),
  ],
])('a head %s is read whole, and the next save marks all parts', (_, change) => {
  const created = AgentSession.create({ definition: { name: 'a' }, state: told(), clock: steppedClock() });
  const saved = created.withRevision({ incarnation: INCARNATION, version: 1 }, START);
  const content = applySavePlan(undefined, planSave(saved));
  const older = { ...content, head: JSON.stringify(change(JSON.parse(content.head) as HeadJson)) };
  const missing = missingIn(readHead(older.head), knownContentOf(saved));
  expect(missing.values).toEqual([...content.values.keys()]);
  expect(missing.lists.map(({ name, from }) => [name, from])).toEqual(
    [...content.lists.keys()].map((name) => [name, 0]),
  );
  const { session, outcome } = readWith(older, saved.info, saved);
  expect([session, outcome]).toEqual([saved, 'parts']);
  const next = session.withState(session.state.withUserMessage('Hello.'));
  const after = next.withRevision({ incarnation: INCARNATION, version: 2 }, START);
  const plan = planSave(after, session);
  expect(plan.isWhole).toBe(false);
  expectMarks(applySavePlan(older, plan));
});
