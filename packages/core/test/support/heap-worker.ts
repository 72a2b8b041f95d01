import { AgentSession, AgentState, createAgentLoop, tool } from '@holdfast/core';
import { SessionId } from '@holdfast/core/engine';
import { applySavePlan, planSave, restoreSession } from '@holdfast/core/store';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { SessionCache } from '../../src/session/claim/session-cache.ts';
import { weighSession } from '../../src/session/claim/session-weight.ts';

// Fills a cache with sessions of each kind, as a store returns them, and prints the bytes of heap that they take.

const LIMIT = 8_000_000;
const records = Array.from({ length: 20 }, (_, id) => ({
  id,
  name: `Item ${id}`,
  price: id / 8,
  tags: ['a', 'b'],
}));
const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  execute: () => records,
});

async function stateAfter(...script: ScriptedAnswer[]): Promise<AgentState> {
  const loop = createAgentLoop({ driver: scriptedDriver(...script), tools: [look] });
  return loop.run(AgentState.empty().withUserMessage('What is there?'));
}

const words = (length: number): string => 'words '.repeat(length / 6);
const calls = Array.from({ length: 10 }, (): ScriptedAnswer => ({ calls: [['look', { page: 1 }]] }));
const STATES: Readonly<Record<string, AgentState>> = {
  'a short chat': await stateAfter('Nothing.'),
  'long texts': await stateAfter(words(30_000)),
  'texts beyond Latin-1': await stateAfter('文'.repeat(20_000)),
  'tools that return records': await stateAfter(...calls, 'Much.'),
};

function heapUsed(): number {
  for (const _ of [1, 2, 3]) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Puts more sessions into a cache than it has room for, and returns the heap that the cached ones take. */
function heapOfCached(state: AgentState): number {
  const session = AgentSession.create({ definition: { name: 'agent' }, state });
  const saved = applySavePlan(undefined, planSave(session));
  const count = (1.5 * LIMIT) / (weighSession(session)?.heap ?? NaN);
  const before = heapUsed();
  const cache = new SessionCache(LIMIT);
  const { info } = session;
  for (let index = 0; index < count; index++)
    cache.put(restoreSession(saved, { ...info, sessionId: SessionId.create() }, 'incarnation'));
  const used = heapUsed() - before;
  cache.remove(info.sessionId); // until here, the cache is in use
  return used;
}

const found = Object.entries(STATES).map(([name, state]) => [name, heapOfCached(state) / LIMIT]);
process.stdout.write(JSON.stringify(Object.fromEntries(found)));
