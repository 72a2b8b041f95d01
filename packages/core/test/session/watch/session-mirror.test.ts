import { AgentSession, AgentState } from '@holdfast/core';
import type { ChannelChange, ChannelEntry } from '@holdfast/core/channel';
import { expect, test } from 'vitest';
import { StatePatchWriter } from '../../../src/channel/state-patch.ts';
import { SessionMirror } from '../../../src/session/watch/session-mirror.ts';

const created = AgentSession.create({ definition: { name: 'a' }, state: AgentState.empty({ at: 0 }), at: 0 });
const session = created.withRevision({ incarnation: 'i', version: 3 }, 0);

/** The entries of one worker that sends these messages. */
function entries(epoch: number, ...texts: string[]): ChannelEntry[] {
  const writer = new StatePatchWriter(session.state);
  let { state } = session;
  return texts.map((text, n) => {
    state = state.withUserMessage(text);
    const change = { type: 'state', patch: writer.write(state) } as ChannelChange;
    return { incarnation: 'i', epoch, series: 0, n, base: 3, change };
  });
}

const shown = ({ view }: SessionMirror): string =>
  view.session.state.messages.map(({ content }) => JSON.stringify(content)).join();

function saved(entry: ChannelEntry | undefined, version: number): ChannelEntry {
  const change: ChannelChange = { type: 'saved', version, status: 'active', at: 5 };
  return { ...(entry as ChannelEntry), n: (entry?.n ?? 0) + 1, change };
}

test('what a frozen worker publishes after it was replaced never shows', () => {
  const mirror = new SessionMirror(session);
  const [early, late] = entries(1, 'early', 'late') as [ChannelEntry, ChannelEntry];
  const [later] = entries(2, 'later') as [ChannelEntry];
  mirror.receive(early);
  expect(shown(mirror)).toContain('early');
  mirror.receive(later);
  expect(mirror.receive(late)).toBe('done');
  expect(shown(mirror)).not.toContain('early');
  expect(shown(mirror)).toContain('later');
});

test('after the first entry of a later worker, nothing of the worker before shows, even if entries are missing', () => {
  const mirror = new SessionMirror(session);
  mirror.receive(entries(1, 'early')[0] as ChannelEntry);
  expect(mirror.receive(entries(2, 'a', 'b')[1] as ChannelEntry)).toBe('missed');
  expect(mirror.view.session.state).toBe(session.state);
});

test('after a missing entry the view stays, until the series comes again', () => {
  const mirror = new SessionMirror(session);
  const [first, second, third] = entries(1, 'x', 'y', 'z') as [ChannelEntry, ChannelEntry, ChannelEntry];
  mirror.receive(first);
  const { view } = mirror;
  expect(mirror.receive(third)).toBe('missed');
  expect(mirror.receive(second)).toBe('missed');
  expect(mirror.view).toBe(view);
  for (const entry of [first, second, third]) expect(mirror.receive(entry)).toBe('done');
  expect(shown(mirror)).toContain('z');
});

test('a save makes the shown state the saved one; after a missing entry it must be loaded', () => {
  const [whole, blind] = [new SessionMirror(session), new SessionMirror(session)];
  const [first, second] = entries(1, 'x', 'y') as [ChannelEntry, ChannelEntry];
  for (const entry of [first, second]) whole.receive(entry);
  expect(whole.receive(saved(second, 4))).toBe('done');
  expect(whole.view).toMatchObject({ isSaved: true });
  expect(whole.view.session).toMatchObject({ version: 4, updatedAt: 5 });
  blind.receive(second);
  expect(blind.receive(saved(second, 4))).toBe('load');
});

test('a save without a claim, which has the epoch 0, must be loaded', () => {
  const mirror = new SessionMirror(session);
  const [entry] = entries(1, 'x') as [ChannelEntry];
  mirror.receive(entry);
  expect(mirror.receive({ ...saved(entry, 4), epoch: 0 })).toBe('load');
});

test('an entry of another incarnation, or of a later version, needs a load', () => {
  const mirror = new SessionMirror(session);
  const [entry] = entries(1, 'x') as [ChannelEntry];
  expect(mirror.receive({ ...entry, incarnation: 'j' })).toBe('load');
  expect(mirror.receive({ ...entry, base: 4 })).toBe('load');
  expect(mirror.receive({ ...entry, base: 2 })).toBe('done');
  expect(shown(mirror)).toBe('');
});

test('an entry that does not fit is not used, and those after it neither', () => {
  const mirror = new SessionMirror(session);
  const [first, second] = entries(1, 'x', 'y') as [ChannelEntry, ChannelEntry];
  const newer = { version: 99, updatedAt: 1, executionCount: 0 };
  expect(mirror.receive({ ...first, change: { type: 'state', patch: newer } })).toBe('missed');
  expect(mirror.receive(second)).toBe('missed');
  expect(shown(mirror)).toBe('');
});
