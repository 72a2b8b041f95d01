import assert from 'node:assert/strict';
import { AgentSession, type AgentState } from '@holdfast/core';
import { stateAfterSteps, stateInStep } from '../case/execution-states.ts';
import { sampleMessages } from '../case/sample-messages.ts';
import { emptyState, START, storeCase, withFact, type UngroupedCase } from '../case/store-case.ts';

/** Ten messages, a summary, two metadata entries, and all optional fields. */
export function fullState(): AgentState {
  const state = emptyState().withMessages(sampleMessages(10), START);
  return state
    .withMessageStore(state.store.withSection('summary', sampleMessages(3, 100)), START)
    .withMetadata('mood', 'good', START)
    .withMetadata('count', 1, START)
    .withSystemPrompt('Be brief.', START)
    .withLlmConfig({ model: 'tester-1', temperature: 0.5 }, START)
    .withResponseFormat({ type: 'json', schema: { type: 'object' } }, START);
}

const section = (state: AgentState, name: string, ...of: Parameters<typeof sampleMessages>): AgentState =>
  state.withMessageStore(state.store.withSection(name, sampleMessages(...of)), START);

/** The changes of a state that a save can write, by what they do. */
export const CHANGES: Readonly<Record<string, (state: AgentState) => AgentState>> = {
  'nothing changed': (state) => state,
  'one message appended': (state) => section(state, 'messages', 11),
  '5,000 messages appended': (state) => section(state, 'messages', 5_010),
  'the last message replaced': (state) =>
    state.withMessages([...sampleMessages(9), ...sampleMessages(1, 9, 'second')], START),
  'the last half replaced by more': (state) =>
    state.withMessages([...sampleMessages(5), ...sampleMessages(9, 5, 'second')], START),
  'the last half replaced by less': (state) =>
    state.withMessages([...sampleMessages(5), ...sampleMessages(2, 5, 'second')], START),
  'the last half dropped': (state) => section(state, 'messages', 5),
  'the first message dropped': (state) => section(state, 'messages', 9, 1),
  'the first message replaced': (state) =>
    state.withMessages([...sampleMessages(1, 0, 'second'), ...sampleMessages(9, 1)], START),
  'all messages dropped': (state) => state.withMessages([], START),
  'all sections dropped': (state) => section(section(state, 'messages', 0), 'summary', 0),
  'a section added': (state) => section(state, 'buffer', 2, 200),
  'a section dropped': (state) => section(state, 'summary', 0),
  'sections with unusual names': (state) =>
    ['steps', 'otherMessages', 'messages:', '__proto__', '\0', '🦊'].reduce(
      (result, name, index) => section(result, name, 2, 300 + index * 10),
      state,
    ),
  'messages moved to another section': (state) => section(section(state, 'messages', 5, 5), 'buffer', 5),
  'a metadata entry changed': (state) => state.withMetadata('mood', 'bad', START),
  'all metadata dropped': (state) => state.withoutMetadata('mood', START).withoutMetadata('count', START),
  'the system prompt changed': (state) => state.withSystemPrompt('Be long.', START),
  'the system prompt dropped': (state) => state.withSystemPrompt(undefined, START),
  'the model dropped': (state) => state.withLlmConfig(undefined, START),
  'the response format dropped': (state) => state.withResponseFormat(undefined, START),
  'everything dropped': () => emptyState(),
  'a step started': stateInStep,
  'an execution completed': stateAfterSteps,
  'an execution removed': (state) => stateAfterSteps(state).forNextExecution(START),
};

const changes = Object.entries(CHANGES).flatMap(([what, change]) =>
  [true, false].map((withBase) =>
    storeCase(`${what}, saved ${withBase ? 'on its base' : 'without a base'}`, async (context) => {
      const { store, session } = context;
      const base = await store.create(session('a', { state: fullState() }));
      const saved = await store.save(base.withState(change(base.state)), withBase ? { base } : {});
      assert.equal(saved.version, 2);
      const loaded = await store.load('a');
      assert.deepEqual(loaded, saved);
      assert.equal(JSON.stringify(loaded), JSON.stringify(saved));
      const back = await store.save(saved.withState(base.state), withBase ? { base: saved } : {});
      assert.deepEqual(await store.load('a'), back);
    }),
  ),
);

const sequences = [
  storeCase('every change after the previous one', async ({ store, session }) => {
    let base = await store.create(session('a', { state: fullState() }));
    for (const [what, change] of Object.entries(CHANGES)) {
      const state = change(base.state.execution ? base.state.forNextExecution(START) : base.state);
      const saved = await store.save(base.withState(state), { base });
      const loaded = await store.load('a');
      assert.deepEqual(loaded, saved, what);
      // The base is in turn a loaded and a saved session, because both are bases.
      base = saved.version % 2 === 0 && loaded ? loaded : saved;
    }
  }),
  storeCase('a session that grows by one message at a time', async ({ store, session }) => {
    let base = await store.create(session('a'));
    for (let count = 1; count <= 40; count++) {
      const message = sampleMessages(1, count);
      const state = base.state.withMessageStore(base.state.store.append('messages', message), START);
      base = await store.save(base.withState(state), { base });
    }
    const loaded = await store.load('a');
    assert.deepEqual(loaded, base);
    assert.equal(loaded?.state.messages.length, 40);
  }),
  storeCase('5,000 messages in one session, saved at once', async ({ store, session }) => {
    const state = emptyState().withMessages(sampleMessages(5_000), START);
    const created = await store.create(session('a', { state }));
    const loaded = await store.load('a');
    assert.equal(loaded?.state.messages.length, 5_000);
    assert.deepEqual(loaded, created);
  }),
  storeCase('a save without changes is a new version', async ({ store, clock, created }) => {
    const base = await created('a');
    clock.time += 1_000;
    const saved = await store.save(base, { base });
    assert.equal(saved.version, 2);
    assert.equal(saved.updatedAt, START + 1_000);
    assert.deepEqual(saved.state, base.state);
    assert.deepEqual(await store.load('a'), saved);
  }),
];

const bases = [
  storeCase('a base of another revision is not used', async ({ store, session }) => {
    const first = await store.create(session('a', { state: fullState() }));
    const second = await store.save(first.withState(section(first.state, 'messages', 12)), { base: first });
    const third = await store.save(withFact(second, 'n', 3), { base: first });
    assert.deepEqual(await store.load('a'), third);
    assert.equal(third.state.messages.length, 12);
  }),
  storeCase('a base of another session is not used', async ({ store, session }) => {
    const other = await store.create(session('b', { state: fullState() }));
    const base = await store.create(session('a'));
    const saved = await store.save(base.withState(fullState()), { base: other });
    assert.deepEqual(await store.load('a'), saved);
  }),
  storeCase('a base that the store did not return is not used', async ({ store, session }) => {
    const created = await store.create(session('a', { state: fullState() }));
    const base = AgentSession.fromJSON(JSON.parse(JSON.stringify(created)));
    const saved = await store.save(base.withState(section(base.state, 'messages', 3)), { base });
    assert.deepEqual(await store.load('a'), saved);
  }),
];

/** The changes that a save can write, with and without a base. */
export const changeCases: readonly UngroupedCase[] = [...changes, ...sequences, ...bases];
