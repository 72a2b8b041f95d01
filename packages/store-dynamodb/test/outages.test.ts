import { createAgentLoop, sendMessage, SessionRuntime, systemClock, tool } from '@holdfast/core';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { throttled } from './support/request-proxy.ts';
import { testDatabase } from './support/test-database.ts';

const database = testDatabase();

/**
 * Runs an agent whose call of the effect `once` returns when the outage has begun. The outage ends in the sixth pause
 * between two attempts at the save. Returns the session as the store has it.
 */
async function runThroughOutage(
  store: SessionStore,
  outage: { readonly begin: () => void; readonly end: () => void },
): Promise<{ readonly session: AgentSession; readonly starts: number; readonly pauses: number }> {
  let [starts, pauses] = [0, 0];
  const execute = (): string => {
    starts++;
    outage.begin();
    return 'paid';
  };
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    effect: 'once',
    execute,
  });
  const after = (milliseconds: number, callback: () => void): (() => void) => {
    if (milliseconds > 2_000) {
      const timer = setTimeout(callback, milliseconds); // a heartbeat
      return () => clearTimeout(timer);
    }
    if (++pauses === 6) outage.end();
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  };
  const loop = createAgentLoop({ driver: scriptedDriver({ calls: { pay: {} } }, 'Paid.'), tools: [pay] });
  const runtime = new SessionRuntime({ store, agents: { payer: loop }, clock: { ...systemClock, after } });
  const { sessionId } = await runtime.create({ definition: { name: 'payer' } });
  const session = await runtime.execute(sessionId, sendMessage('Pay.'));
  return { session, starts, pauses };
}

test('the outcome of a call is saved as soon as the table accepts requests again', async () => {
  const after = (_: number, callback: () => void): (() => void) => {
    const timer = setImmediate(callback); // a pause of the store itself
    return () => clearImmediate(timer);
  };
  const store = await database.newStore({ clock: { ...systemClock, after }, maxAttempts: 1 });
  const outage = {
    begin: () => {
      database.proxy.fault = async () => throttled();
    },
    end: () => {
      database.proxy.fault = undefined;
    },
  };
  const { session, starts, pauses } = await runThroughOutage(store, outage);
  expect([starts, pauses, session.state.finalResponse]).toEqual([1, 6, 'Paid.']);
  const [execution] = session.state.steps[0]?.toolExecutions ?? [];
  expect([execution?.outcome?.type, execution?.attempt]).toEqual(['succeeded', 1]);
});
