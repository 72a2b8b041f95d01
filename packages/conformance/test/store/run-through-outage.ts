import {
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  systemClock,
  tool,
  type AgentSession,
  type SessionStore,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';

/**
 * Runs an agent whose call of the effect `once` returns its output when the outage has begun. The outage ends in the sixth
 * pause between two attempts at the save. Returns the session as the store has it.
 */
export async function runThroughOutage(
  store: SessionStore,
  outage: { readonly begin: () => void; readonly end: () => void },
  output = 'paid',
): Promise<{ readonly session: AgentSession; readonly starts: number; readonly pauses: number }> {
  let [starts, pauses] = [0, 0];
  const execute = (): string => {
    starts++;
    outage.begin();
    return output;
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
