import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { AgentState, AgentStep, userMessage, type Message } from '@holdfast/core';
import { List } from '@holdfast/core/driver';
import { START as T, storeOf } from '../../support/arbitraries.ts';

// What a step was shown is stored as the place where it stands, and as the step before with what came after it.

const named = (names: string): Message[] => [...names].map((name) => userMessage(name, { id: name }));
const [talk, notes] = [named('abcdef'), named('xyz')];
const stored = new Map([...talk, ...notes].map((message) => [message.id as string, message]));
const others = new Map(named('opq').map((message) => [message.id as string, message]));
const begun = AgentState.empty({ at: T })
  .withMessageStore(storeOf({ messages: talk, notes }), T)
  .withExecutionStatus('inProgress', T);

/** Messages by their letters: capitals are copies, as a compiler makes them anew for each step. */
function shown(letters: string): Message[] {
  return [...letters].map((letter) => {
    const message = stored.get(letter.toLowerCase()) ?? others.get(letter.toLowerCase());
    if (message === undefined) throw new TypeError(`There is no message ${letter}.`);
    return letter === letter.toLowerCase() ? message : { ...message };
  });
}

/** A state whose steps were shown these; each list is a new one. */
function stateShown(views: readonly string[]): AgentState {
  return views.reduce(
    (state, letters) =>
      state.withCurrentStep(AgentStep.create(List.from(shown(letters))), T).withCurrentStepCompleted(T),
    begun,
  );
}

const inTalk = (from: number, to: number) => ({ section: 'messages', from, to });
const inNotes = (from: number, to: number) => ({ section: 'notes', from, to });
const inOthers = (from: number, to: number) => ({ from, to });
const first = (...ranges: object[]) => (ranges.length === 0 ? {} : { ranges });
const then = (...ranges: object[]) => ({ continues: true, ...first(...ranges) });

test.for<[views: string[], ...stored: object[]]>([
  [['abc'], first(inTalk(0, 3))],
  [[''], first()],
  [['', 'ab'], first(), first(inTalk(0, 2))],
  [['abc', 'abc'], first(inTalk(0, 3)), then()],
  [['ab', 'abcd'], first(inTalk(0, 2)), then(inTalk(2, 4))],
  [['abxy'], first(inTalk(0, 2), inNotes(0, 2))],
  [['ay'], first(inTalk(0, 1), inNotes(1, 2))],
  [['acb'], first(inTalk(0, 1), inTalk(2, 3), inTalk(1, 2))],
  [['ao'], first(inTalk(0, 1), inOthers(0, 1))],
  [['op', 'opq'], first(inOthers(0, 2)), then(inOthers(2, 3))],
  // Not the step before, but a part of it, another place, or another section.
  [['abc', 'ab'], first(inTalk(0, 3)), first(inTalk(0, 2))],
  [['abc', 'bc'], first(inTalk(0, 3)), first(inTalk(1, 3))],
  [['axb', 'ax'], first(inTalk(0, 1), inNotes(0, 1), inTalk(1, 2)), first(inTalk(0, 1), inNotes(0, 1))],
  [['ab', 'xy'], first(inTalk(0, 2)), first(inNotes(0, 2))],
  // Copies stand where what they are copies of stands, if it is not in the store.
  [['oa', 'Oab'], first(inOthers(0, 1), inTalk(0, 1)), then(inTalk(1, 2))],
  [['op', 'OPa', 'OPab'], first(inOthers(0, 2)), then(inTalk(0, 1)), then(inTalk(1, 2))],
  [['op', 'OPQ', 'OPQ'], first(inOthers(0, 2)), then(inOthers(2, 3)), then()],
  [['op', 'O'], first(inOthers(0, 2)), first(inOthers(0, 1))],
  [['oa', 'b', 'bO'], first(inOthers(0, 1), inTalk(0, 1)), first(inTalk(1, 2)), then(inOthers(0, 1))],
  [
    ['oap', 'b', 'OA', 'OAp'],
    first(inOthers(0, 1), inTalk(0, 1), inOthers(1, 2)),
    first(inTalk(1, 2)),
    first(inOthers(0, 1), inOthers(2, 3)),
    then(inOthers(1, 2)),
  ],
  // What the step before was shown, in ranges that differ in their length or their place.
  [['oab', 'Oabx'], first(inOthers(0, 1), inTalk(0, 2)), then(inNotes(0, 1))],
  [
    ['oabx', 'Oacx'],
    first(inOthers(0, 1), inTalk(0, 2), inNotes(0, 1)),
    first(inOthers(0, 1), inTalk(0, 1), inTalk(2, 3), inNotes(0, 1)),
  ],
  [
    ['oabx', 'Oabcx'],
    first(inOthers(0, 1), inTalk(0, 2), inNotes(0, 1)),
    first(inOthers(0, 1), inTalk(0, 3), inNotes(0, 1)),
  ],
  [
    ['oax', 'Oay'],
    first(inOthers(0, 1), inTalk(0, 1), inNotes(0, 1)),
    first(inOthers(0, 1), inTalk(0, 1), inNotes(1, 2)),
  ],
])('%j', ([views, ...inputs]) => {
  const state = stateShown(views);
  const document = JSON.parse(JSON.stringify(state)) as { execution: { steps: { input: object }[] } };
  expect(document.execution.steps.map(({ input }) => input)).toEqual(inputs);
  const restored = AgentState.fromJSON(document);
  for (const [index, letters] of views.entries()) {
    assert.deepStrictEqual(restored.steps.at(index)?.input.toArray(), shown(letters));
  }
});

test('an equal message that the store lacks is written once for all views', () => {
  const { execution } = JSON.parse(JSON.stringify(stateShown(['oo', 'OoO', 'pOP']))) as {
    execution: { otherMessages: Message[] };
  };
  expect(execution.otherMessages.map(({ id }) => id)).toEqual(['o', 'p']);
});

test('different messages with one id are all written', () => {
  const [one, other] = [userMessage('one', { id: 'same' }), userMessage('other', { id: 'same' })];
  const state = begun.withCurrentStep(AgentStep.create(List.from([one, other, one])), T);
  const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
  assert.deepStrictEqual(restored.currentStep?.input.toArray(), [one, other, one]);
});
