import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AgentSession, AgentState, userMessage } from '@holdfast/core';
import { planSave } from '@holdfast/core/store';
import { expect, test } from 'vitest';
import { weighSession, type SessionWeight } from '../../../src/session/claim/session-weight.ts';

const WORKER = fileURLToPath(new URL('../../support/heap-worker.ts', import.meta.url));
const FLAGS = ['--expose-gc', '--conditions=@holdfast/source', '--disable-warning=ExperimentalWarning'];

test('a full cache takes the heap that it may take, whatever the sessions hold', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, WORKER]);
  const shares = JSON.parse(stdout) as Readonly<Record<string, number>>;
  expect(Object.keys(shares)).toHaveLength(4);
  expect(Object.entries(shares).filter(([, share]) => share < 0.6 || share > 1.4)).toEqual([]);
});

function weightOf(texts: readonly string[], before?: SessionWeight): SessionWeight {
  const state = AgentState.empty().withMessages(texts.map((text) => userMessage(text)));
  const session = AgentSession.create({ definition: { name: 'tester' }, state });
  planSave(session);
  return weighSession(session, before) as SessionWeight;
}

test('a text takes a byte for each letter, and two with a letter beyond Latin-1', () => {
  const [latin, other] = [weightOf(['e'.repeat(1_000_000)]), weightOf(['文'.repeat(1_000_000)])];
  expect(latin.heap / 1_000_000).toBeCloseTo(1, 1);
  expect(other.heap / 2_000_000).toBeCloseTo(1, 1);
});

test('the sample is taken again when the session has doubled', () => {
  const short = weightOf(['short']);
  const longer = weightOf(['short', 'short'], short);
  expect(longer.ratio).toBe(short.ratio);
  const long = weightOf(['short', 'x'.repeat(100_000)], short);
  expect(long.ratio).not.toBe(short.ratio);
  expect(long).toEqual(weightOf(['short', 'x'.repeat(100_000)]));
});

test('a long session is weighed by a sample of its messages', () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? 'a' : 'b').repeat(500));
  expect(weightOf(texts).ratio).toBeCloseTo(weightOf(texts.slice(0, 2)).ratio, 1);
});

test('a session that no store has returned has no weight', () => {
  const session = AgentSession.create({ definition: { name: 'tester' } });
  expect(weighSession(session)).toBeUndefined();
});
