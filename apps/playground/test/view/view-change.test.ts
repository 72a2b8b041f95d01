import { expect, test } from 'vitest';
import type { SessionView } from '../../src/view/session-view.ts';
import { changeBetween, viewAfter } from '../../src/view/view-change.ts';

/** A view whose messages have these ids. */
function viewWith(...ids: readonly string[]): SessionView {
  const messages = ids.map(
    (id) => ({ id, role: 'user', summary: id, stepNumber: 1, isTrace: false }) as const,
  );
  return {
    sessionId: 's',
    title: ids.join(' '),
    version: 1,
    executionStatus: undefined,
    isRunning: false,
    isFork: false,
    agentId: 'a',
    agentLabel: 'A',
    forkedFrom: undefined,
    maxSteps: 5,
    messageCount: ids.length,
    execution: undefined,
    steps: [],
    tools: [],
    messages,
  };
}

test.each<[string, readonly string[], readonly string[], object]>([
  ['the same rows', ['a', 'b'], ['a', 'b'], {}],
  ['a new row', ['a'], ['a', 'b'], { messages: { drop: 0, keep: 1, add: [{ id: 'b' }] } }],
  [
    'rows that move on',
    ['a', 'b', 'c'],
    ['b', 'c', 'd'],
    { messages: { drop: 1, keep: 2, add: [{ id: 'd' }] } },
  ],
  [
    'a changed row',
    ['a', 'b', 'c'],
    ['a', 'x', 'c'],
    { messages: { drop: 0, keep: 1, add: [{ id: 'x' }, { id: 'c' }] } },
  ],
  ['rows that go', ['a', 'b'], ['a'], { messages: { drop: 0, keep: 1, add: [] } }],
  ['no row any more', ['a', 'b'], [], { messages: { drop: 2, keep: 0, add: [] } }],
  ['other rows', ['a', 'b'], ['c'], { messages: { drop: 2, keep: 0, add: [{ id: 'c' }] } }],
])('%s', (_, before, after, messages) => {
  const [old, wanted] = [viewWith(...before), viewWith(...after)];
  const change = changeBetween(old, wanted);
  expect(change).toMatchObject(messages);
  expect(Object.keys(change)).toEqual(['facts', ...Object.keys(messages)]);
  expect(viewAfter(old, change)).toEqual(wanted);
  expect(viewAfter(undefined, changeBetween(undefined, wanted))).toEqual(wanted);
});
