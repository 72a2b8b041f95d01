import {
  AgentSession,
  AgentState,
  changeModel,
  changeStatus,
  changeSystemPrompt,
  clearHistory,
  createAgentLoop,
  MemorySessionStore,
  resume,
  RunAbort,
  sendMessage,
  SessionRuntime,
  writeMetadata,
  type SessionAction,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { does, driverOf } from '../../support/builders.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** An agent that says hello by a clock of its own. */
const agents = {
  helper: createAgentLoop({ driver: driverOf(async () => ({ text: 'Hi.' })), clock: steppedClock(5_000) }),
};

/** Every session that the store was given to keep, as text. */
class RecordingStore extends MemorySessionStore {
  readonly texts: string[] = [];

  override async create(session: AgentSession): Promise<AgentSession> {
    return this.record(await super.create(session));
  }

  override async save(...request: Parameters<MemorySessionStore['save']>): Promise<AgentSession> {
    return this.record(await super.save(...request));
  }

  private record(session: AgentSession): AgentSession {
    this.texts.push(JSON.stringify(session));
    return session;
  }
}

/** All that is stored while every built-in action is used once or more, on a day by the clock of the machine. */
async function storedOn(day: Date): Promise<readonly string[]> {
  vi.useFakeTimers({ toFake: ['Date'], now: day });
  const clock = steppedClock(1_000);
  const leaving = new AbortController();
  const driver = scriptedDriver(
    { calls: [['a', {}]] },
    'One.',
    () => {
      leaving.abort(new RunAbort('yield'));
      return 'Two.';
    },
    'Three.',
    'Four.',
  );
  const store = new RecordingStore({ clock });
  const agents = { helper: createAgentLoop({ driver, tools: [does('a')], clock }) };
  const runtime = new SessionRuntime({ store, agents, clock });
  const { sessionId } = await runtime.create({
    definition: { name: 'helper', systemPrompt: 'Help.', llmConfig: { model: 'openai:gpt-5' } },
  });
  const act = async (...actions: readonly SessionAction[]): Promise<void> => {
    for (const action of actions) await runtime.execute(sessionId, action);
  };
  await act(sendMessage('One?'), changeModel({ model: 'openai:gpt-6' }), changeSystemPrompt('Be brief.'));
  await act(writeMetadata('channel', 'web'));
  await runtime.execute(sessionId, sendMessage('Two?'), { signal: leaving.signal });
  await act(sendMessage('Three?'), resume(), changeStatus('suspended'), changeStatus('active'));
  const fork = await runtime.fork(sessionId);
  await act(clearHistory());
  await runtime.execute(fork.sessionId, sendMessage('Four?'));
  expect(driver.requests).toHaveLength(5);
  return store.texts;
}

test('with a stepped clock, the same calls on another day store the same bytes', async () => {
  const stored = await storedOn(new Date('2026-11-21T12:00:00Z'));
  expect(await storedOn(new Date('2031-01-02T03:04:05Z'))).toEqual(stored);
  expect(stored.at(-1)).toContain('Four.');
});

test('every stored id and time comes from the clock', async () => {
  const text = (await storedOn(new Date('2026-11-21T12:00:00Z'))).join('\n');
  const ids = text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? [];
  expect(new Set(ids.map((id) => id.slice(0, 24)))).toEqual(new Set(['000003e8-0000-4000-8000-']));
  const times = [...text.matchAll(/"(?:\w+At)":(\d+)/g)].map(([, time]) => Number(time));
  expect(times.length).toBeGreaterThan(100);
  expect([Math.min(...times) >= 1_000, Math.max(...times) < 2_000]).toEqual([true, true]);
});

test('a session, its agent and its first execution have ids and times of the clock', async () => {
  const clock = steppedClock(1_000);
  const store = new RecordingStore({ clock });
  const runtime = new SessionRuntime({ store, agents, clock });
  const created = await runtime.create({ definition: { name: 'helper' } });
  await runtime.execute(created.sessionId, sendMessage('Hello'));
  const { state } = AgentSession.fromJSON(JSON.parse(store.texts[1] ?? ''));
  const ids = [created.sessionId, state.agentId, state.executionId, state.messages.at(0)?.id];
  expect(ids.map((id) => id?.slice(0, 8))).toEqual(Array(4).fill('000003e8'));
  expect([created.createdAt, state.createdAt, state.status]).toEqual([1_000, 1_000, 'pending']);
  expect(state.execution?.startedAt).toBeLessThan(1_010);
});

test('ids and times that the caller passes take precedence over the clock', async () => {
  const clock = steppedClock(1_000);
  const given = { sessionId: 's', at: 7 };
  const session = AgentSession.create({ definition: { name: 'helper' }, clock, ...given });
  expect([session.sessionId, session.createdAt, session.state.createdAt]).toEqual(['s', 7, 7]);
  const agentId = '00000000-0000-4000-8000-00000000000a';
  const fork = session.state.fork({ agentId, at: 8, clock });
  expect([fork.agentId, fork.createdAt]).toEqual([agentId, 8]);
  expect(AgentState.empty().fork({ clock }).agentId).toMatch(/^000003e8-/);

  const runtime = new SessionRuntime({
    store: new RecordingStore({ clock }),
    agents,
    clock,
  });
  await runtime.create({ definition: { name: 'helper' }, sessionId: 's' });
  const { state } = await runtime.execute('s', sendMessage('Hello', { clock: steppedClock(9_000) }));
  expect(state.messages.at(0)?.id).toMatch(/^00002328-/);
});
