import { setImmediate } from 'node:timers/promises';
import {
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  SessionRuntime,
  type SessionDirectory,
} from '@holdfast/core';
import { PollingEngine, groupLimits, type GroupConcurrency, type QueueEngine } from '@holdfast/core/engine';
import { describe, expect, onTestFinished, test } from 'vitest';

/** The most sessions at work at the same time, of each owner and of all. */
class Load {
  readonly most: Record<string, number> = {};
  private readonly running: Record<string, number> = {};

  async during(owner: string): Promise<void> {
    for (const name of [owner, 'all']) {
      const running = (this.running[name] = (this.running[name] ?? 0) + 1);
      this.most[name] = Math.max(this.most[name] ?? 0, running);
    }
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    for (const name of [owner, 'all']) this.running[name] = (this.running[name] ?? 0) - 1;
  }
}

/** Runs eight sessions of Ada and two of Ben to their end, on 8 places. The wake-ups do not name the owners. */
async function loadOf(engineOf: (store: SessionDirectory) => QueueEngine): Promise<Load> {
  const store = new MemorySessionStore();
  const load = new Load();
  const agentOf = (owner: string) =>
    createAgentLoop({ driver: { infer: () => load.during(owner).then(() => ({ text: 'Done.' })) } });
  const runtime = new SessionRuntime({ store, agents: { ada: agentOf('ada'), ben: agentOf('ben') } });
  const owners = [...Array.from({ length: 8 }, () => 'ada'), 'ben', 'ben'];
  for (const [index, owner] of owners.entries()) {
    await runtime.create({ sessionId: `${index}`, definition: { name: owner }, owner });
    await runtime.enqueue(`${index}`, { type: 'message', content: 'Begin.' });
  }
  const engine = engineOf(store);
  const worker = await engine.serve((id, options) => runtime.advance(id, options), { concurrency: 8 });
  onTestFinished(() => worker.stop());
  for (const index of owners.keys()) await engine.wake(`${index}`);
  const completed = async () => (await runtime.list({ executionStatus: 'completed' })).sessions.length;
  while ((await completed()) < owners.length) await setImmediate();
  return load;
}

describe.each([
  [
    'InProcessEngine',
    (_: SessionDirectory, groupConcurrency: GroupConcurrency) => new InProcessEngine({ groupConcurrency }),
  ],
  [
    'PollingEngine',
    (store: SessionDirectory, groupConcurrency: GroupConcurrency) =>
      new PollingEngine({ store, groupConcurrency }),
  ],
])('%s with groupConcurrency', (_, engineOf) => {
  test('works on so many sessions of an owner at the same time, also when a wake-up names no owner', async () => {
    const { most } = await loadOf((store) => engineOf(store, 2));
    expect(most).toEqual({ ada: 2, ben: 2, all: 4 });
  });

  test('has a limit for each owner', async () => {
    const { most } = await loadOf((store) => engineOf(store, (owner) => (owner === 'ada' ? 3 : 1)));
    expect(most).toEqual({ ada: 3, ben: 1, all: 4 });
  });
});

test('a group for which the function fails has one slot, and holds up no other', async () => {
  const warnings: string[] = [];
  const limits = groupLimits(
    (group) => {
      if (group === 'ada') throw new Error('The plan of Ada is unknown.');
      return group === 'ben' ? 0 : 5;
    },
    (warning) => warnings.push(warning),
  );
  expect(['ada', 'ben', 'eve', 'ada'].map((group) => limits?.(group))).toEqual([1, 1, 5, 1]);
  expect(warnings).toEqual([
    'groupConcurrency failed for the group "ada", which has one slot now: Error: The plan of Ada is unknown.',
    'groupConcurrency failed for the group "ben", which has one slot now: RangeError: The result of groupConcurrency must be a whole number of at least 1, found number 0.',
  ]);
});

test.each([0, 1.5, '2'])('%o is refused as groupConcurrency', (groupConcurrency) => {
  expect(() => new InProcessEngine({ groupConcurrency: groupConcurrency as number })).toThrow(
    'must be a whole number of at least 1, or a function that returns one for a group',
  );
});
