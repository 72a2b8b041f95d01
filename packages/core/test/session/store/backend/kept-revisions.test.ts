import { AgentSession, AgentState } from '@holdfast/core';
import { applySavePlan, planSave, type SessionContent } from '@holdfast/core/store';
import { steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  lastRevision,
  readRevision,
  revisionChange,
} from '../../../../src/session/store/backend/kept-revisions.ts';

const definition = { name: 'helper' };
const NOON = Date.parse('2026-12-01T12:00:00Z');
const versionOf = (session: AgentSession, version: number): AgentSession =>
  session.withRevision({ incarnation: 'i', version }, NOON + version);
const withFact = (session: AgentSession, n: number): AgentSession =>
  session.withState(session.state.withMetadata('n', n, NOON + n));

/** Plans the first save of a session. */
function first(): { readonly session: AgentSession; readonly content: SessionContent } {
  const session = versionOf(AgentSession.create({ definition, clock: steppedClock(NOON) }), 1);
  return { session, content: applySavePlan(undefined, planSave(session)) };
}

describe('the change of the revisions by a save', () => {
  const { session: base } = first();
  const next = versionOf(withFact(base, 1), 8);
  const plan = planSave(next, base);
  const parts = { plan, base, keptRevisions: 5 };
  const claimed = { firstRevision: 2, lease: { workerId: 'Ada', until: NOON } };

  test('has the entry of the version, and removes those that are no longer kept', () => {
    const { archive, firstRevision } = revisionChange(next, claimed, parts);
    expect(firstRevision).toBe(4);
    expect(archive).toMatchObject({
      archive: 'revisions',
      put: [{ position: 8 }],
      remove: { from: 2, to: 4 },
    });
  });

  test('keeps all entries while there are fewer than it may keep', () => {
    const change = revisionChange(next, { firstRevision: 6 }, parts);
    expect([change.firstRevision, change.archive?.remove]).toEqual([6, undefined]);
  });

  test.each([
    ['a base that this process does not know', { ...parts, base: undefined }, { firstRevision: 6 }],
    ['a session that has kept none before', parts, { firstRevision: undefined }],
    ['a creation', { ...parts, base: undefined }, undefined],
  ])('begins with this version for %s', (_, changed, before) => {
    const { archive, firstRevision } = revisionChange(next, before, changed);
    expect([firstRevision, archive?.put.map(({ position }) => position)]).toEqual([8, [8]]);
    expect(archive?.remove).toEqual(before?.firstRevision === undefined ? undefined : { from: 6, to: 8 });
  });

  test('removes all entries once the store keeps none', () => {
    const none = { ...parts, keptRevisions: 0 };
    expect(revisionChange(next, claimed, none)).toEqual({
      archive: { archive: 'revisions', put: [], remove: { from: 2, to: 8 } },
      firstRevision: undefined,
    });
    expect(revisionChange(next, {}, none)).toEqual({ archive: undefined, firstRevision: undefined });
  });

  test('names the worker only for a save under its claim', () => {
    const entryOf = (epoch?: number) =>
      readRevision(
        revisionChange(next, claimed, { ...parts, checkpoint: 'step', epoch }).archive?.put[0]?.json ?? '',
      );
    expect(entryOf(3).shown).toEqual({
      version: 8,
      savedAt: NOON + 8,
      checkpoint: 'step',
      workerId: 'Ada',
      writtenLength: expect.any(Number) as number,
    });
    expect(Object.keys(entryOf().shown)).not.toContain('workerId');
  });
});

test('an entry gives the content before, and the facts of its version', () => {
  const { session: base, content } = first();
  const next = versionOf(withFact(base, 1).withDescription({ title: 'Second' }), 2);
  const plan = planSave(next, base);
  const { archive } = revisionChange(next, { firstRevision: 1 }, { plan, base, keptRevisions: 9 });
  const entry = readRevision(archive?.put[0]?.json ?? '');
  expect([entry.info, entry.shown.version, entry.info.title]).toEqual([next.info, 2, 'Second']);
  const written = [plan.head, ...plan.values.values()].join('').length;
  expect([plan.lists, entry.shown.writtenLength]).toEqual([[], written]);
  const after = applySavePlan(content, plan);
  expect(after).not.toEqual(content);
  expect(entry.undo && applySavePlan(after, entry.undo)).toEqual(content);
});

test('the entry of a save without a base cannot be undone', () => {
  const next = versionOf(AgentSession.create({ definition, state: AgentState.empty() }), 4);
  const plan = planSave(next);
  const { archive } = revisionChange(next, { firstRevision: 1 }, { plan, base: undefined, keptRevisions: 9 });
  expect(readRevision(archive?.put[0]?.json ?? '').undo).toBeUndefined();
});

test('a damaged entry is refused with its path', () => {
  const { session: base } = first();
  const next = versionOf(withFact(base, 1), 2);
  const plan = planSave(next, base);
  const { archive } = revisionChange(next, { firstRevision: 1 }, { plan, base, keptRevisions: 9 });
  const json = archive?.put[0]?.json ?? '';
  const entry = JSON.parse(json) as { undo: { values: { text?: unknown }[]; lists: unknown[] } };
  const damaged = (change: (copy: typeof entry) => void): string => {
    const copy = structuredClone(entry);
    change(copy);
    return JSON.stringify(copy);
  };
  for (const text of [
    '',
    json.slice(0, -1),
    'null',
    '{}',
    damaged((copy) => Object.assign(copy, { more: 1 })),
    damaged((copy) => Object.assign(copy, { undo: ['head', [], []] })),
    damaged((copy) => Object.assign(copy.undo.values[0] ?? {}, { text: 7 })),
    damaged((copy) => copy.undo.lists.push({ name: 'steps', keep: -1, append: [] })),
    damaged((copy) => copy.undo.lists.push({ name: 'steps', keep: 0, append: [null] })),
  ])
    expect(() => readRevision(text)).toThrow(expect.objectContaining({ code: 'STATE_FORMAT' }));
  expect(readRevision(damaged(() => undefined))).toEqual(readRevision(json));
});

test('the last revision of a session without kept ones is that of its record', () => {
  const { info } = versionOf(first().session, 3);
  expect(lastRevision({ info })).toEqual({ version: 3, savedAt: NOON + 3 });
});
