import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  type HoldfastError,
  type SessionEvent,
} from '@holdfast/core';

import { manualClock, scriptedDriver } from '@holdfast/core/testing';

/** Returns the error of the event of a worker whose timers fire 14 seconds late. */
export async function errorOfStandstill(): Promise<HoldfastError | undefined> {
  const clock = manualClock();
  const after: typeof clock.after = (delay, callback) => clock.after(delay + 14_000, callback);
  const errors: HoldfastError[] = [];
  const onSessionEvent = (event: SessionEvent): void => {
    if (event.type === 'worker-stood-still') errors.push(event.error);
  };
  const driver = scriptedDriver(() => (clock.advance(20_000), 'Done.'));
  const agents = { guide: createAgentLoop({ driver }) };
  const store = new MemorySessionStore({ clock });
  const runtime = new SessionRuntime({ store, agents, clock: { ...clock, after }, onSessionEvent });
  await runtime.create({ sessionId: 'trip-1', definition: { name: 'guide' } });
  await runtime.execute('trip-1', sendMessage('Hello'));
  return errors[0];
}
