import {
  AgentState,
  AgentStop,
  eventListener,
  redactedListener,
  type AgentEvent,
  type Hook,
  type ToolCallPart,
} from '@holdfast/core';
import { ToolExecutionBlockedError, type ToolBlock, type ToolUseContext } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { does, observe, throwIt, type Observation, type Scenario } from '../../support/builders.ts';

/** What an auditing hook has seen of a call: its arguments, and who had blocked it. */
interface Attempt {
  readonly input: unknown;
  readonly blockedBy: readonly ToolBlock[];
}

function audit(attempts: Attempt[]): Hook {
  return {
    name: 'audit',
    beforeToolUse({ input }: ToolCallPart, { blockedBy }: ToolUseContext) {
      attempts.push({ input, blockedBy });
    },
  };
}

const blocks = (name: string | undefined, reason: string): Hook => ({
  ...(name !== undefined && { name }),
  beforeToolUse: () => ({ block: reason }),
});

/** A run in which the model asks once for the tool `pay`, which counts its calls. */
async function paid(hooks: readonly Hook[], scenario: Scenario = {}): Promise<Observation & { ran: number }> {
  let ran = 0;
  const pay = does('pay', () => ++ran);
  const script = [{ calls: { pay: { amount: 5 } } }, 'Done.'] as const;
  return { ...(await observe({ script, tools: [pay], hooks, ...scenario })), ran };
}

const lastOf = ({ state }: Observation) => state.lastToolExecution;
const blockedEvent = ({ events }: Observation): Extract<AgentEvent, { type: 'tool-blocked' }>[] =>
  events.filter((event) => event.type === 'tool-blocked');

describe('the hook that blocked a call', () => {
  const rows: readonly (readonly [string, readonly Hook[], hook: string])[] = [
    ['by its name', [blocks('office hours', 'Closed.')], 'office hours'],
    // `observe` registers a hook of its own before these.
    [
      'by its place, when it has no name',
      [{ beforeStep: () => undefined }, blocks(undefined, 'No.')],
      'hook 3',
    ],
    [
      'whatever its priority',
      [{ afterStep: () => undefined }, { ...blocks(undefined, 'No.'), priority: 9 }],
      'hook 3',
    ],
  ];
  test.each(rows)('is recorded in the error, the execution and the event: %s', async (_, hooks, hook) => {
    const seen = await paid(hooks);
    const reason = lastOf(seen)?.error?.message;
    const blockedBy = [{ hook, reason }];
    expect(seen.ran).toBe(0);
    expect(lastOf(seen)?.error).toMatchObject({
      name: 'ToolExecutionBlockedError',
      code: 'TOOL_BLOCKED',
      data: { toolName: 'pay', blockedBy },
    });
    expect(lastOf(seen)?.blockedBy).toEqual(blockedBy);
    expect(blockedEvent(seen).map((event) => event.blockedBy)).toEqual([blockedBy]);
  });

  test('is recorded in a stored state too', async () => {
    const { state } = await paid([blocks('office hours', 'Closed.')]);
    const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
    expect(stored.lastToolExecution?.blockedBy).toEqual([{ hook: 'office hours', reason: 'Closed.' }]);
  });

  test('is a member of the error class', () => {
    const blockedBy = [
      { hook: 'a', reason: 'Closed.' },
      { hook: 'b', reason: '' },
    ];
    const error = new ToolExecutionBlockedError('pay', blockedBy);
    expect([error.message, error.blockedBy, error.data]).toEqual([
      'Closed.',
      blockedBy,
      { toolName: 'pay', blockedBy },
    ]);
  });

  test('stays in redacted events, without the reason', async () => {
    const seen: unknown[] = [];
    const listener = redactedListener(eventListener('tool-blocked', ({ blockedBy }) => seen.push(blockedBy)));
    await paid([blocks('office hours', 'Closed.')], { listeners: [listener] });
    expect(seen).toEqual([[{ hook: 'office hours', reason: '[redacted]' }]]);
  });

  test('is absent when a hook after the call sets the outcome blocked', async () => {
    const overrules: Hook = {
      afterToolUse: (execution, { clock }) => {
        const error = { name: 'Error', message: 'No.', data: { blockedBy: [{ hook: 1 }, 'a'] } };
        return { toolExecution: execution.withOutcome({ type: 'blocked', error }, clock.now()) };
      },
    };
    const seen = await paid([overrules]);
    expect([lastOf(seen)?.wasBlocked, lastOf(seen)?.blockedBy]).toEqual([true, []]);
  });
});

describe('hooks after one that blocked a call', () => {
  test('receive the call, the hook that blocked it, and the reason', async () => {
    const attempts: Attempt[] = [];
    const { state, ran } = await paid([
      blocks('a', 'Closed.'),
      audit(attempts),
      blocks('b', ''),
      audit(attempts),
    ]);
    const first = { hook: 'a', reason: 'Closed.' };
    expect(attempts.map(({ blockedBy }) => blockedBy)).toEqual([[first], [first, { hook: 'b', reason: '' }]]);
    expect([ran, state.status]).toEqual([0, 'completed']);
  });

  test('receive no block before there is one', async () => {
    const attempts: Attempt[] = [];
    const { ran } = await paid([audit(attempts), blocks('a', 'Closed.')]);
    expect([attempts, ran]).toEqual([[{ input: { amount: 5 }, blockedBy: [] }], 0]);
  });

  test('can add a reason, and the model reads all reasons', async () => {
    const seen = await paid([blocks('a', 'Closed.'), blocks('b', 'Too much.')]);
    expect(lastOf(seen)?.toResultPart().output).toEqual({
      type: 'execution-denied',
      reason: 'Closed.\nToo much.',
    });
    expect(blockedEvent(seen).map(({ blockedBy }) => blockedBy.map(({ hook }) => hook))).toEqual([
      ['a', 'b'],
    ]);
  });

  test('cannot lift the block, and cannot change the call', async () => {
    const attempts: Attempt[] = [];
    const lifts: Hook = {
      beforeToolUse: (call) => ({ call: { ...call, input: { amount: 1 } }, block: undefined as never }),
    };
    const changes: Hook = {
      beforeToolUse: (call) => ({ call: { ...call, input: { amount: 7 } }, block: 'Closed.' }),
    };
    const seen = await paid([changes, lifts, audit(attempts)]);
    expect([lastOf(seen)?.outcome?.type, lastOf(seen)?.args, seen.ran]).toEqual([
      'blocked',
      { amount: 7 },
      0,
    ]);
    expect(attempts.map(({ input }) => input)).toEqual([{ amount: 7 }]);
  });

  test('can change the state', async () => {
    const notes: Hook = {
      beforeToolUse: (_, { state, blockedBy, clock }) => ({
        state: state.withMetadata('blocks', blockedBy.length, clock.now()),
      }),
    };
    const { state } = await paid([blocks('a', 'Closed.'), notes]);
    expect(state.metadata.get('blocks')).toBe(1);
  });

  test('are called once for each of several calls', async () => {
    const attempts: Attempt[] = [];
    const script = [{ calls: [['pay', 1] as const, ['pay', 2] as const] }, 'Done.'];
    await paid([blocks('a', 'Closed.'), audit(attempts)], { script });
    expect(attempts.map(({ input, blockedBy }) => [input, blockedBy.length])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });
});

describe('a block is recorded whatever a later hook does', () => {
  const ends: readonly (readonly [string, Hook, status: string])[] = [
    ['throws', { beforeToolUse: () => throwIt(new Error('down')) }, 'failed'],
    ['throws an AgentStop', { beforeToolUse: () => throwIt(new AgentStop('Enough.')) }, 'stopped'],
    [
      'stops the run',
      {
        beforeToolUse: (_, { state, clock }) => ({
          state: state.withStopSignal({ reason: 'stopRequested', message: 'Enough.' }, clock.now()),
        }),
      },
      'stopped',
    ],
  ];
  test.each(ends)('%s', async (_, later, status) => {
    const last: Attempt[] = [];
    const seen = await paid([blocks('a', 'Closed.'), later, audit(last)], {
      script: [{ calls: { pay: {} } }],
    });
    const execution = seen.state.steps[0]?.toolExecutions[0];
    expect([seen.state.status, execution?.outcome?.type, execution?.blockedBy]).toEqual([
      status,
      'blocked',
      [{ hook: 'a', reason: 'Closed.' }],
    ]);
    expect(last).toEqual([]);
  });
});
