import {
  createAgentLoop,
  redactedListener,
  subagent,
  tool,
  type AgentEvent,
  type AgentLoop,
  type AgentState,
} from '@holdfast/core';
import { SessionId } from '@holdfast/core/engine';
import { DriverError } from '@holdfast/core/driver';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does, told } from '../../support/builders.ts';

const overloaded = new DriverError('overloaded', 'Overloaded.');
async function eventsOf(
  loop: AgentLoop,
  from: AgentState,
): Promise<{ readonly state: AgentState; readonly events: readonly AgentEvent[] }> {
  const events: AgentEvent[] = [];
  const state = await loop.run(from, { onEvent: (event) => void events.push(event) });
  return { state, events };
}

const flat = (event: AgentEvent): readonly AgentEvent[] =>
  event.type === 'subagent' ? [event, ...flat(event.event)] : [event];

describe('every event', () => {
  test('names the execution and the attempt at its step', async () => {
    const driver = scriptedDriver(overloaded, overloaded, { calls: { a: {} } }, overloaded, 'Done.');
    const clock = steppedClock(1_000);
    const loop = createAgentLoop({
      driver,
      clock,
      tools: [does('a')],
      inferenceRetry: { initialDelaySeconds: 0.001 },
    });
    const { state, events } = await eventsOf(loop, told());
    expect(state.status).toBe('completed');
    expect(new Set(events.map(({ executionId }) => executionId))).toEqual(new Set([state.executionId]));
    expect(events.every((event) => !('session' in event))).toBe(true);
    const attempts = events.flatMap(({ type, attempt }) =>
      type === 'usage-updated' ? [] : [`${type} ${attempt}`],
    );
    expect(attempts.filter((each) => !each.startsWith('inference-delta'))).toEqual([
      'execution-started 1',
      'step-started 1',
      'inference-started 1',
      'inference-failed 1',
      'step-restarted 2',
      'inference-started 2',
      'inference-failed 2',
      'step-restarted 3',
      'inference-started 3',
      'inference-completed 3',
      'tool-started 3',
      'tool-completed 3',
      'step-completed 3',
      'continuation-evaluated 3',
      'step-started 1',
      'inference-started 1',
      'inference-failed 1',
      'step-restarted 2',
      'inference-started 2',
      'inference-completed 2',
      'step-completed 2',
      'continuation-evaluated 2',
      'execution-completed 2',
    ]);
  });

  test('of a second execution names the second, and one of a subagent names its own', async () => {
    const inner = createAgentLoop({ driver: scriptedDriver('Found.', 'Found.'), clock: steppedClock(5_000) });
    const find = subagent({ name: 'find', description: 'Finds.', loop: inner });
    const ask = { calls: { find: { prompt: 'Find.' } } };
    const driver = scriptedDriver(ask, 'One.', ask, 'Two.');
    const loop = createAgentLoop({ driver, clock: steppedClock(1_000), tools: [find] });
    const first = await eventsOf(loop, told());
    const second = await eventsOf(loop, first.state.withUserMessage('Again.'));
    for (const { state, events } of [first, second]) {
      expect(new Set(events.map(({ executionId }) => executionId))).toEqual(new Set([state.executionId]));
      const nested = events.flatMap((event) => (event.type === 'subagent' ? flat(event.event) : []));
      expect(nested.length).toBeGreaterThan(0);
      for (const event of nested) expect(event.executionId).toBe(event.state.executionId);
    }
    expect(first.state.executionId).not.toBe(second.state.executionId);
  });

  test('keeps the id of the execution after a hook has removed it', async () => {
    const hooks = [{ afterExecution: (state: AgentEvent['state']) => state.forNextExecution() }];
    const loop = createAgentLoop({ driver: scriptedDriver('Hi.'), clock: steppedClock(1_000), hooks });
    const { events } = await eventsOf(loop, told());
    expect(new Set(events.map(({ executionId }) => executionId)).size).toBe(1);
  });
});

describe('tool-waiting', () => {
  const asks = tool({ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } });
  const risky = { ...does('risky'), needsApproval: () => true };

  test('is emitted once for each call, for a decision and for an answer', async () => {
    const driver = scriptedDriver({ calls: { ask: {}, risky: {} } });
    const loop = createAgentLoop({ driver, clock: steppedClock(1_000), tools: [asks, risky] });
    const { state, events } = await eventsOf(loop, told());
    expect(waitsIn(events)).toEqual([
      ['ask', false, ['answer']],
      ['risky', true, []],
    ]);
    const again = await eventsOf(loop, state);
    expect(waitsIn(again.events)).toEqual([]);
  });

  test('is emitted for the call of a subagent in which a call waits, and for that call inside', async () => {
    const clock = manualClock(1_000);
    const inner = createAgentLoop({
      driver: scriptedDriver({ calls: { risky: {} } }),
      clock,
      tools: [risky],
    });
    const find = subagent({ name: 'find', description: 'Finds.', loop: inner });
    const driver = scriptedDriver({ calls: { find: { prompt: 'Find.' } } });
    const { events } = await eventsOf(createAgentLoop({ driver, clock, tools: [find] }), told());
    expect(waitsIn(events)).toEqual([['find', false, ['approval']]]);
    expect(waitsIn(events.flatMap(flat))).toEqual([
      ['risky', true, []],
      ['find', false, ['approval']],
    ]);
  });

  test('is emitted for the call that a child session works for', async () => {
    const driver = scriptedDriver({ calls: { risky: {} } });
    const loop = createAgentLoop({ driver, clock: steppedClock(1_000), tools: [risky] });
    const { state } = await eventsOf(loop, told());
    const [call] = state.currentStep?.toolExecutions ?? [];
    if (!call) throw new Error('no call');
    const entry = { type: 'child', sessionId: SessionId.parse('kid'), toolExecutionId: call.id } as const;
    const after = state.withExecutionStatus('suspended', 5_000, [entry]);
    const events: AgentEvent[] = [];
    await loop.run(after, { previousState: state, onEvent: (event) => void events.push(event) });
    expect(waitsIn(events)).toEqual([['risky', true, []]]);
  });
});

/** The calls that begin to wait: the tool, whether for a decision, and for what inside. */
function waitsIn(events: readonly AgentEvent[]): unknown[] {
  return events.flatMap((event) => {
    if (event.type !== 'tool-waiting') return [];
    const { name, isAwaitingApproval, waitingInside } = event.toolExecution;
    return [[name, isAwaitingApproval, waitingInside.map(({ type }) => type)]];
  });
}

describe('a redacted event', () => {
  test('has the execution, the attempt and the redacted progress', async () => {
    const events: AgentEvent[] = [];
    const listener = redactedListener((event) => void events.push(event));
    const saves = does('saves', (_, { saveProgress }) => saveProgress({ secret: 'x' }));
    const driver = scriptedDriver({ calls: { saves: {} } }, 'Done.');
    const loop = createAgentLoop({
      driver,
      clock: steppedClock(1_000),
      tools: [saves],
      listeners: [listener],
    });
    const { executionId } = await loop.run(told());
    expect(new Set(events.map((event) => [event.executionId, event.attempt].join(' ')))).toEqual(
      new Set([`${executionId} 1`]),
    );
    const progress = events.flatMap((event) =>
      event.type === 'tool-progress' ? [event.toolExecution.progress] : [],
    );
    expect(progress).toEqual(['[redacted]']);
  });
});
