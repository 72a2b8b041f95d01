import {
  MemorySessionStore,
  sendMessage,
  StoreUnavailableError,
  type AgentSession,
  type AgentState,
} from '@holdfast/core';
import type { SaveOptions } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { call, definition, diesInTool, settled, takeOver, world } from '../../support/durable-world.ts';

describe('a runtime', () => {
  test('a failed release does not fail the run', async () => {
    class Store extends MemorySessionStore {
      override async release(): Promise<boolean> {
        throw new StoreUnavailableError('down', { isAmbiguous: true });
      }
    }
    const made = world();
    const store = new Store({ clock: made.clock });
    const runtime = made.process(['Hi.'], { store });
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Hello.'));
    expect(session.state.finalResponse).toBe('Hi.');
  });

  test('the advance of a session that is deleted during its run is finished', async () => {
    const made = world({ act: () => made.store.delete(sessionId) });
    const runtime = made.process([call(1), 'Never.']);
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const result = await runtime.advance(sessionId);
    expect(result).toEqual({ outcome: { type: 'finished' }, wake: [], isMissing: true });
  });

  test('a session whose agent is missing in the catalog is released, and its execution does not fail', async () => {
    const made = world();
    const runtime = made.process([], { agents: {}, maxAttempts: 1 });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    for (let attempt = 1; attempt <= 5; attempt++)
      expect(await runtime.advance(sessionId)).toMatchObject({ error: { code: 'AGENT_NOT_FOUND' } });
    await made.process(['Here.'], { maxAttempts: 1 }).advance(sessionId);
    expect((await runtime.get(sessionId)).state.finalResponse).toBe('Here.');
  });

  test('the last of the allowed steps receives no abort', async () => {
    const made = world();
    const aborted: boolean[] = [];
    const afterExecution = async (_: AgentState, { signal }: { signal: AbortSignal }): Promise<void> => {
      aborted.push(signal.aborted);
    };
    const runtime = made.process(['Hi.'], {}, { hooks: [{ afterExecution }] });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Go.' });
    const { outcome } = await runtime.advance(sessionId, { maxSteps: 1 });
    expect([outcome, aborted]).toEqual([{ type: 'finished' }, [false]]);
  });

  test('a message to an execution that fails after its last attempt gets its response in the next execution', async () => {
    const made = await diesInTool({ effect: 'idempotent', act: () => new Promise(() => undefined) });
    takeOver(made);
    made
      .process([])
      .advance(made.sessionId)
      .catch(() => undefined);
    while (made.calls.length < 2) await settled();
    takeOver(made);
    const runtime = made.process(['Hello.'], { maxAttempts: 1 });
    await runtime.enqueue(made.sessionId, { type: 'message', content: 'And now?' });
    await runtime.advance(made.sessionId);
    const { state } = await runtime.get(made.sessionId);
    expect([state.executionCount, state.finalResponse]).toEqual([2, 'Hello.']);
  });

  test.each([
    ['and had done nothing', false],
    ['and had done it', true],
  ])('with onSaveFailure "continue" continues when the store no longer replies %s', async (_, isDone) => {
    let [isGone, saves] = [false, 0];
    class Store extends MemorySessionStore {
      override async save(session: AgentSession, options?: SaveOptions): Promise<AgentSession> {
        if (!isGone) return super.save(session, options);
        saves += 1;
        if (isDone) await super.save(session, options);
        throw new StoreUnavailableError('gone', { isAmbiguous: true });
      }
    }
    const made = world({ act: () => ((isGone = false), 'paid') });
    const store = new Store({ clock: made.clock });
    const after = (milliseconds: number, callback: () => void): (() => void) => {
      if (milliseconds < 1_000) setImmediate(callback); // between two tries
      return () => undefined;
    };
    const clock = { ...made.clock, after };
    const driver = [() => ((isGone = true), call(1)), 'Paid.'];
    const runtime = made.process(driver, { store, clock, onSaveFailure: 'continue' });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Pay.' });
    await expect(runtime.advance(sessionId)).resolves.toMatchObject({ outcome: { type: 'finished' } });
    const { state } = await runtime.get(sessionId);
    expect([state.finalResponse, made.calls.length, saves]).toEqual(['Paid.', 1, 3]);
    expect(made.events.map(({ type }) => type)).not.toContain('session-conflict');
    expect(made.events.filter(({ type }) => type === 'session-save-failed')).toHaveLength(1);
    await expect(store.due()).resolves.toMatchObject({ sessions: [] });
  });

  test.each([
    { savePolicy: 'each-stop' },
    { onSaveFailure: 'ignore' },
    { maxAttempts: 1.5 },
    { leaseSeconds: 0 },
  ])('%o is refused', (options) => {
    expect(() => world().process([], options as never)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });

  test.each([0, -1, 1.5, Number.NaN])('maxSteps %s is refused, and nothing is claimed', async (maxSteps) => {
    const made = world();
    const runtime = made.process([]);
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.advance(sessionId, { maxSteps })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
    await made.store.claim(sessionId, { workerId: 'me', leaseSeconds: 1 });
  });
});
