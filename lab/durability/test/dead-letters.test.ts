import type { Store } from '../src/stores.ts';
import { setImmediate } from 'node:timers/promises';
import {
  createAgentLoop,
  InProcessEngine,
  retry,
  SessionRuntime,
  type AgentLoop,
  type ListedSession,
  type SessionStore,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { sweep, type EngineWorker } from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import { until } from 'test-servers';
import { describe, expect, test } from 'vitest';
import { listedSessions } from './listed-sessions.ts';
import { serverOfBlock, TESTED_STORES, type NewLocation } from './servers.ts';
import { forEachOf, World } from './world.ts';

const DAY = 86_400_000;
/** The pauses between the attempts, in seconds, without their jitter of a quarter. */
const PAUSES = [5, 20, 80, 320];
const JITTER = 0.25;

describe.each(TESTED_STORES)('$name', (tested) => {
  const { name } = tested;
  const newLocation = serverOfBlock(tested);

  test('a session without its agent becomes a dead letter, and continues after the deployment', async () => {
    const { store, close } = await openWorld(name, newLocation);
    // The engine waits by this clock. The store has its own.
    const clock = manualClock(Date.now());
    const engine = new InProcessEngine({ clock });
    const before = new SessionRuntime({ store, agents: { known: answering('Here.') } });
    const advances: string[] = [];
    const errors: string[] = [];
    const served = await engine.serve(
      (id, options) => {
        advances.push(id);
        return before.advance(id, options);
      },
      { onError: (error, id) => errors.push(`${id} ${codeOf(error)}`) },
    );
    await begin(before, 'later', 'new');
    await begin(before, 'innocent-0', 'known');
    await sweep(store, engine);

    for (const [index, seconds] of PAUSES.entries()) {
      const failure = await failureAfter(store, index + 1);
      const { at, retryAt = 0, error } = failure;
      expect(error.code).toBe('AGENT_NOT_FOUND');
      const pause = (retryAt - at) / 1_000;
      expect(Math.abs(pause - seconds)).toBeLessThanOrEqual(seconds * JITTER + 0.001);
      expect(await dueBy(store, retryAt - 1)).not.toContain('later');
      expect(await dueBy(store, retryAt)).toContain('later');
      const innocent = `innocent-${index + 1}`;
      await begin(before, innocent, 'known');
      await engine.wake(innocent);
      await until(
        'the innocent session is finished',
        async () => (await responseOf(store, innocent)) === 'Here.',
      );
      clock.advance(retryAt - 1 - clock.now());
      await setImmediate();
      expect(advances.filter((id) => id === 'later')).toHaveLength(index + 1);
      clock.advance(1);
    }
    const dead = await failureAfter(store, PAUSES.length + 1);
    expect(dead.retryAt).toBeUndefined();
    expect(dead.error.message).toBe('Unknown agent "new" in the catalog. Known agents: known.');
    await served.stop();
    expect(await dueBy(store, Date.now() + DAY)).toEqual([]);
    clock.advance(DAY);
    expect(errors).toEqual(Array.from({ length: PAUSES.length + 1 }, () => 'later AGENT_NOT_FOUND'));

    const after = new SessionRuntime({ store, agents: { new: answering('Deployed.') } });
    const { state } = await after.execute('later', retry());
    expect(state.finalResponse).toBe('Deployed.');
    expect(state.messages.toArray().map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(await waitingForRetry(store)).toEqual([]);
    await close();
  });

  test('dead letters and failed calls are listed in pages, and revived in bulk', async () => {
    const { store, close } = await openWorld(name, newLocation);
    const ids = Array.from({ length: 45 }, (_, index) => `${isUnpaid(index) ? 'unpaid' : 'dead'}-${index}`);
    const before = new SessionRuntime({ store, maxAttempts: 1, agents: { unpaid: unpaid() } });
    await forEachOf(ids, 8, async (id) => {
      await begin(before, id, id.replace(/-.*/, ''));
      await before.advance(id);
    });
    const listed = await waitingForRetry(store);
    expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted());
    for (const { sessionId, failure } of listed) {
      const code = sessionId.startsWith('dead') ? 'AGENT_NOT_FOUND' : undefined;
      expect([failure?.error.code, failure?.attempts, failure?.retryAt]).toEqual([
        code,
        code && 1,
        undefined,
      ]);
    }
    expect(await dueBy(store, Date.now() + DAY)).toEqual([]);

    const agents = { unpaid: answering('Paid.'), dead: answering('Alive.') };
    const after = new SessionRuntime({ store, agents });
    for (const { sessionId } of listed) await after.enqueue(sessionId, { type: 'retry' }, { id: 'bulk' });
    const served = await work(after, store);
    await until('all sessions are finished', async () => {
      const completed = await listedSessions(store, { limit: 20, executionStatus: 'completed' });
      return completed.length === ids.length;
    });
    expect(await waitingForRetry(store)).toEqual([]);
    await served.stop();
    const states = await Promise.all(ids.map(async (id) => (await after.get(id)).state));
    expect(states.map(({ finalResponse }) => finalResponse)).toEqual(
      ids.map((id) => (id.startsWith('dead') ? 'Alive.' : 'Paid.')),
    );
    expect(states.flatMap(({ steps }) => steps)).toHaveLength(ids.length);
    expect(await dueBy(store, Date.now() + DAY)).toEqual([]);
    await close();
  });
});

/** Every tenth session waits for its model, the others for their agent. */
function isUnpaid(index: number): boolean {
  return index % 10 === 0;
}

function answering(text: string): AgentLoop {
  return createAgentLoop({ driver: { infer: async () => ({ text }) } });
}

/** An agent whose provider reports an exceeded quota. */
function unpaid(): AgentLoop {
  const infer = async (): Promise<never> => {
    throw new DriverError('quotaExceeded', 'You exceeded your current quota.');
  };
  return createAgentLoop({ driver: { infer }, inferenceRetry: { maxSuspendedSeconds: Infinity } });
}

async function openWorld(
  name: string,
  newLocation: NewLocation,
): Promise<{ readonly store: Store; readonly close: () => Promise<void> }> {
  const world = await World.of(name, newLocation);
  return { store: world.store, close: () => world.close() };
}

async function begin(runtime: SessionRuntime, sessionId: string, agent: string): Promise<void> {
  await runtime.create({ sessionId, definition: { name: agent } });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Hello.' });
}

async function work(runtime: SessionRuntime, store: Store): Promise<EngineWorker> {
  const engine = new InProcessEngine();
  const onError = (error: unknown): void => expect.fail(String(error));
  const served = await engine.serve((id, options) => runtime.advance(id, options), { onError });
  await sweep(store, engine);
  return served;
}

/** Waits until the work on the only failing session has failed so many times, and returns its failure. */
async function failureAfter(
  store: SessionStore,
  attempts: number,
): Promise<NonNullable<ListedSession['failure']>> {
  let failure: ListedSession['failure'];
  await until(`the work has failed ${attempts} times`, async () => {
    const { sessions } = await store.list({ agentName: 'new' });
    failure = sessions[0]?.failure;
    return failure?.attempts === attempts;
  });
  if (failure === undefined) throw new Error('The session has no failure.');
  return failure;
}

async function responseOf(store: SessionStore, sessionId: string): Promise<string | undefined> {
  return (await store.load(sessionId))?.state.finalResponse;
}

async function dueBy(store: Store, at: number): Promise<readonly string[]> {
  const { sessions } = await store.due({ at, limit: 100 });
  return sessions.map(({ sessionId }) => sessionId);
}

async function waitingForRetry(store: SessionStore): Promise<readonly ListedSession[]> {
  return listedSessions(store, { limit: 20, waitingFor: 'retry' });
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code);
}
