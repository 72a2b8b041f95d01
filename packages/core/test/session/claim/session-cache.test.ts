import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import { AgentSession, AgentState } from '@holdfast/core';
import { planSave } from '@holdfast/core/store';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { defaultCacheBytes, SessionCache } from '../../../src/session/claim/session-cache.ts';
import { weighSession } from '../../../src/session/claim/session-weight.ts';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { START } from '../../support/arbitraries.ts';

/** A session as a store answers it, with so much text in it. */
function answered(sessionId: string, text = 0): AgentSession {
  const state = AgentState.empty({ at: START }).withSystemPrompt('x'.repeat(text), START);
  const definition = { name: 'tester' };
  const session = AgentSession.create({ sessionId, definition, state, at: START });
  const saved = session.withRevision({ incarnation: 'i', version: 1 }, START);
  planSave(saved);
  return saved;
}

const sizeOf = (session: AgentSession): number => weighSession(session)?.heap ?? Number.NaN;
const [a, b, c] = ['a', 'b', 'c'].map((id) => answered(id)) as [AgentSession, AgentSession, AgentSession];

test('the least recently used session is removed first, and a read is a use', () => {
  const cache = new SessionCache(sizeOf(a) + sizeOf(b));
  cache.put(a);
  cache.put(b);
  expect(cache.get('a')).toBe(a);
  cache.put(c);
  expect(['a', 'b', 'c'].map((id) => cache.get(id))).toEqual([a, undefined, c]);
});

test('a session replaces the earlier session with its id', () => {
  const cache = new SessionCache(sizeOf(a) + sizeOf(b));
  const later = answered('a');
  for (const session of [a, b, later]) cache.put(session);
  expect([cache.get('a'), cache.get('b')]).toEqual([later, b]);
});

test('a session that is larger than the cache is not cached, and the earlier session with its id is removed', () => {
  const cache = new SessionCache(sizeOf(a) + sizeOf(b));
  cache.put(a);
  cache.put(b);
  cache.put(answered('a', 10_000));
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, b]);
});

test('a cache of size 0 stays empty, and a session that no store has returned is not cached', () => {
  const none = new SessionCache(0);
  none.put(a);
  expect(none.get('a')).toBeUndefined();
  const cache = new SessionCache(1_000_000);
  cache.put(AgentSession.create({ sessionId: 'a', definition: { name: 'tester' } }));
  expect(cache.get('a')).toBeUndefined();
});

test('the cache holds the last used sessions up to its size, after any puts, reads and removals', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const moves = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('put' as const), id: ids, text: fc.nat(18_000) }),
      fc.record({ type: fc.constantFrom('get' as const, 'remove' as const), id: ids, text: fc.constant(0) }),
    ),
    { maxLength: 40, size: 'max' },
  );
  const limit = 30_000;
  fc.assert(
    fc.property(moves, (all) => {
      const cache = new SessionCache(limit);
      let model: AgentSession[] = []; // the least recently used first
      for (const { type, id, text } of all) {
        const held = model.find(({ sessionId }) => sessionId === id);
        model = model.filter((session) => session !== held);
        if (type === 'remove') cache.remove(id);
        else if (type === 'get') {
          assert.equal(cache.get(id), held);
          if (held) model.push(held);
        } else {
          const session = answered(id, text);
          cache.put(session);
          model.push(session);
          while (model.reduce((sum, one) => sum + sizeOf(one), 0) > limit) model.shift();
        }
      }
      for (const id of ['a', 'b', 'c', 'd', 'e']) {
        const held = model.find(({ sessionId }) => sessionId === id);
        assert.equal(cache.get(id), held);
      }
    }),
    cases(100),
  );
});

test('by default a cache takes a sixteenth of the heap, and 16 MB where the process does not know its heap', () => {
  expect(defaultCacheBytes()).toBe(Math.floor(getHeapStatistics().heap_size_limit / 16));
  const builtin = vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    throw new Error('This platform has no such module.');
  });
  expect(defaultCacheBytes()).toBe(16_000_000);
  builtin.mockRestore();
});
