import {
  approve,
  consoleObserver,
  createAgentLoop,
  sendMessage,
  subagent,
  textOf,
  type AgentEvent,
  type AgentEventListener,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { deferred } from '../../support/builders.ts';
import { call, definition, settled, world } from '../../support/durable-world.ts';

function heard(): { readonly events: AgentEvent[]; readonly onEvent: AgentEventListener } {
  const events: AgentEvent[] = [];
  return { events, onEvent: (event) => void events.push(event) };
}

const takenIn = (events: readonly AgentEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'message-taken-in' ? [textOf(event.message)] : []));

describe('the events of a run under a runtime', () => {
  test('name the session, the epoch of the claim and the version that was saved last', async () => {
    const made = world();
    const { events, onEvent } = heard();
    const versions: number[] = [];
    const runtime = made.process([call(1), 'Done.', 'Again.'], {
      onEvent,
      onSessionEvent: (event) => {
        if (event.type === 'session-saved') versions.push(event.session.version);
      },
    });
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Go.'));
    const first = events.splice(0);
    expect(first.every(({ session }) => session?.sessionId === sessionId && session.epoch === 1)).toBe(true);
    const at = (type: AgentEvent['type']): number | undefined =>
      first.find((event) => event.type === type)?.session?.version;
    expect([
      at('execution-started'),
      at('tool-started'),
      at('tool-completed'),
      at('execution-completed'),
    ]).toEqual([2, 2, 3, 4]);
    expect(versions).toEqual([1, 2, 3, 4, 5]);
    await runtime.execute(sessionId, sendMessage('Again.'));
    expect(new Set(events.map(({ session }) => session?.epoch))).toEqual(new Set([2]));
  });

  test('reach the runtime, the advance and the loop, also when a listener throws', async () => {
    const [ofLoop, ofRuntime, ofAdvance] = [heard(), heard(), heard()];
    const throws = (): never => {
      throw new Error('no luck');
    };
    const made = world();
    const runtime = made.process(
      ['Hi.'],
      { onEvent: (event) => (ofRuntime.onEvent(event), throws()) },
      {
        listeners: [ofLoop.onEvent, throws],
      },
    );
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Hello.' });
    await runtime.advance(sessionId, { onEvent: ofAdvance.onEvent });
    expect(ofAdvance.events.map(({ type }) => type)).toEqual([
      'execution-started',
      'message-taken-in',
      'step-started',
      'inference-started',
      'inference-delta',
      'inference-completed',
      'usage-updated',
      'step-completed',
      'continuation-evaluated',
      'execution-completed',
    ]);
    expect(ofRuntime.events).toEqual(ofAdvance.events);
    expect(ofLoop.events).toEqual(ofAdvance.events);
  });

  test('of a subagent name the session too', async () => {
    const { events, onEvent } = heard();
    const made = world();
    const inner = createAgentLoop({ driver: scriptedDriver('Found.'), clock: made.clock });
    const find = subagent({ name: 'find', description: 'Finds.', loop: inner });
    const runtime = made.process(
      [{ calls: { find: { prompt: 'Find.' } } }, 'Done.'],
      { onEvent },
      { tools: [find] },
    );
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Go.'));
    const nested = events.flatMap((event) => (event.type === 'subagent' ? [event.event] : []));
    expect(new Set(nested.map(({ session }) => session?.sessionId))).toEqual(new Set([sessionId]));
  });

  test('are printed with the id of the session', async () => {
    const lines: string[] = [];
    const made = world({ needsApproval: true });
    const runtime = made.process([call(1)], {
      onEvent: consoleObserver({ write: (line) => void lines.push(line) }),
    });
    await runtime.create({ definition, sessionId: 'trip-1' });
    await runtime.execute('trip-1', sendMessage('Go.'));
    expect(lines.map((line) => line.replace(/: \d.*/, ''))).toEqual([
      '▶ execution 1 of session trip-1 started',
      '  step 1',
      '    10 in, 5 out, tool-calls',
      '    … pay {"amount":1} waits for approval',
      '■ execution 1 of session trip-1 suspended (approval)',
    ]);
  });
});

describe('message-taken-in', () => {
  test('is emitted for the messages at the start of a run, and once for each', async () => {
    const { events, onEvent } = heard();
    const made = world();
    const runtime = made.process(['Hi.', 'Bye.'], { onEvent });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'One.' });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Two.' });
    await runtime.advance(sessionId);
    expect(takenIn(events.splice(0))).toEqual(['One.', 'Two.']);
    await runtime.execute(sessionId, sendMessage('Three.'));
    expect(takenIn(events)).toEqual(['Three.']);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['execution-started', 'message-taken-in']);
  });

  test('is emitted between two steps for a message that arrives during a run', async () => {
    const [reached, gate] = [deferred(), deferred<string>()];
    const { events, onEvent } = heard();
    const made = world({ act: () => (reached.resolve(), gate.promise) });
    const runtime = made.process([call(1), 'Both.'], { onEvent });
    const { sessionId } = await runtime.create({ definition });
    const running = runtime.execute(sessionId, sendMessage('One.'));
    await reached.promise;
    await made.process([]).execute(sessionId, sendMessage('Two.', { id: 'two' }));
    made.clock.advance(10_000);
    await settled();
    gate.resolve('paid');
    await running;
    const types = events.map((event) =>
      event.type === 'message-taken-in' ? textOf(event.message) : event.type,
    );
    const place = types.indexOf('Two.');
    expect([types.slice(place - 1, place + 2), takenIn(events)]).toEqual([
      ['continuation-evaluated', 'Two.', 'step-started'],
      ['One.', 'Two.'],
    ]);
  });

  test('is not emitted for a message of a hook, nor again after a hook has changed the conversation', async () => {
    const { events, onEvent } = heard();
    const made = world();
    const hooks = [
      {
        beforeStep: (state: AgentEvent['state']) =>
          state
            .withMessages([...state.messages.slice(1), ...state.messages.slice(0, 1)])
            .withUserMessage('Hint.'),
      },
    ];
    const runtime = made.process(['Hi.'], { onEvent }, { hooks });
    const { sessionId } = await runtime.create({ definition });
    await runtime.enqueue(sessionId, { type: 'message', content: 'One.' });
    await runtime.enqueue(sessionId, { type: 'message', content: 'Two.' });
    await runtime.advance(sessionId);
    expect(takenIn(events)).toEqual(['One.', 'Two.']);
  });
});

test('a call that requests approval again begins to wait again', async () => {
  const { events, onEvent } = heard();
  const never = deferred<string>();
  const reached = deferred();
  const made = world({ needsApproval: true, effect: 'ask', act: () => (reached.resolve(), never.promise) });
  const first = made.process([call(5)], { onEvent });
  const { sessionId } = await first.create({ definition });
  const waiting = await first.execute(sessionId, sendMessage('Pay 5.'));
  const [asked] = waiting.state.currentStep?.toolExecutions ?? [];
  first.execute(sessionId, approve(asked?.id ?? '')).catch(() => undefined);
  await reached.promise;
  Object.defineProperty(made.store, 'renew', {
    value: () => Promise.reject(new Error('dead')),
    configurable: true,
  });
  made.clock.advance(31_000);
  Reflect.deleteProperty(made.store, 'renew');
  await made.process([], { onEvent }).advance(sessionId);
  const requests = events.flatMap((event) =>
    event.type === 'tool-waiting'
      ? [[event.toolExecution.approval?.requestNumber, event.session?.epoch]]
      : [],
  );
  expect(requests).toEqual([
    [undefined, 1],
    [2, 3],
  ]);
});
