import { MemorySessionStore, sendMessage, SessionRuntime, createAgentLoop } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import { PollingEngine } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';

/** A channel of somebody else, which throws in one of its methods, or in the function that removes a listener. */
function faulty(member: 'onNotification' | 'notify' | 'publish' | 'remove'): MemorySessionChannel {
  const fail = (): never => {
    throw new Error('The channel is broken.');
  };
  const change = member === 'remove' ? { onNotification: () => fail } : { [member]: fail };
  return Object.assign(new MemorySessionChannel(), change);
}

test.each(['onNotification', 'notify', 'publish', 'remove'] as const)(
  'a channel whose %s throws fails no work',
  async (member) => {
    const store = new MemorySessionStore();
    const channel = faulty(member);
    const agents = { helper: createAgentLoop({ driver: scriptedDriver('Fine.', 'Fine too.') }) };
    const runtime = new SessionRuntime({ store, agents, channel });
    const { sessionId } = await runtime.create({ definition: { name: 'helper' } });
    expect((await runtime.execute(sessionId, sendMessage('Hello.'))).state.finalResponse).toBe('Fine.');
    await runtime.enqueue(sessionId, { type: 'message', content: 'And now?' });

    const engine = new PollingEngine({ store, channel });
    await engine.wake(sessionId);
    const served = await engine.serve((id, options) => runtime.advance(id, options));
    await expect.poll(async () => (await runtime.get(sessionId)).state.finalResponse).toBe('Fine too.');
    await served.stop();
  },
);
