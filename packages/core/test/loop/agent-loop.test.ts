import {
  AgentState,
  createAgentLoop,
  type AgentEvent,
  type AgentLoop,
  type Hook,
  type RunOptions,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  cameTo,
  deferred,
  does,
  driverOf,
  expectPaired,
  expectSound,
  told,
} from '../support/builders.ts';
const fails = does('fails', () => {
  throw new Error('no luck');
});

const scripts: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
  'a final response': ['Hello there.'],
  'three steps': [call('a', 'b'), call('fails'), 'Done.'],
  'an error': [call('a'), new Error('down')],
  'nothing left of the budget': Array.from({ length: 5 }, () => call('a')),
};

/** A state that has its execution id already, so that all runs of it can be equal in every bit. */
const accepted = told().withExecutionStatus('pending', 5);

function loopOf(script: readonly ScriptedAnswer[], hooks: readonly Hook[] = [], start = 1_000): AgentLoop {
  const tools = [does('a'), does('b'), fails];
  return createAgentLoop({
    driver: scriptedDriver(...script),
    tools,
    hooks,
    budget: { maxSteps: 5 },
    clock: steppedClock(start),
  });
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of source) found.push(item);
  return found;
}

test.each([
  ['an unknown option', { maxSteps: 5 }, 'no option "maxSteps"'],
  [
    'a hook with an unknown method',
    { hooks: [{ beforestep: () => undefined }] },
    'did you mean "beforeStep"?',
  ],
  ['a missing hook', { hooks: [undefined] }, 'found nothing'],
  ['an unknown value of toolErrors', { toolErrors: 'stop' }, 'one of continue, fail, found string "stop"'],
])('%s is refused, because it would have no effect', (_, options, message) => {
  const make = (): unknown => createAgentLoop({ driver: scriptedDriver('Hi.'), ...options } as never);
  expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  expect(make).toThrow(message);
});

describe.each<readonly [string, unknown, object?]>([
  ['a state as JSON', told().toJSON()],
  ['no state', undefined],
  ['a text', 'Hi'],
  ['an invalid limit', told(), { budget: { maxSteps: -1 } }],
  ['a cost limit without prices', told(), { budget: { maxCost: 1 } }],
])('a run with %s', (_, state, options) => {
  const refusal = expect.objectContaining({ code: 'ARGUMENT_INVALID' });

  test('is refused at once', async () => {
    const loop = loopOf(['Hi.']);
    const [given, run] = [state as AgentState, options as RunOptions];
    expect(() => loop.iterate(given, run)).toThrow(refusal);
    expect(() => loop.stream(given, run)).toThrow(refusal);
    await expect(loop.run(given, run)).rejects.toEqual(refusal);
  });
});

test('a state with a completed execution starts a new execution with a new budget', async () => {
  const driver = scriptedDriver('Hi.', 'Hi again.');
  const loop = createAgentLoop({ driver, budget: { maxSteps: 1 } });
  const once = await loop.run(told());
  const twice = await loop.run(once);
  expect([once.status, twice.status, twice.executionCount]).toEqual(['completed', 'completed', 2]);
  expect(twice.executionId).not.toBe(once.executionId);
  expect(twice.messages.length).toBe(3);
});

describe('run, iterate and stream give the same result', () => {
  test.each(Object.entries(scripts))('%s', async (_, script) => {
    const byRun = await loopOf(script).run(accepted);
    const states = await collect(loopOf(script).iterate(accepted));
    const stream = loopOf(script).stream(accepted);
    const events = await collect(stream);
    const byStream = await stream.result;
    expect(states.at(-1)).toEqual(byRun);
    expect(cameTo(byStream)).toEqual(cameTo(byRun));
    expect(events.at(-1)?.state).toBe(byStream);
    for (const state of [...states, byStream]) expectPaired(expectSound(state).messages);
    // After every step, and once more at the end.
    expect(states.map(({ stepExecutions }) => stepExecutions.length)).toEqual([
      ...byRun.steps.map((__, index) => index + 1),
      byRun.stepCount,
    ]);
    expect(states.map(({ status }) => status)).toEqual([
      ...byRun.steps.map(() => 'inProgress'),
      byRun.status,
    ]);
  });

  test('two runs with a listener have the same times', async () => {
    const first = await loopOf(['Hi.']).run(accepted, { onEvent: () => undefined });
    const second = await loopOf(['Hi.']).run(accepted, { onEvent: () => undefined });
    expect(first).toEqual(second);
  });

  test('every yielded state can be resumed', async () => {
    const script = scripts['three steps'] ?? [];
    const whole = await loopOf(script).run(accepted);
    const states = await collect(loopOf(script).iterate(accepted));
    for (const [index, state] of states.slice(0, -1).entries()) {
      const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
      const last = await loopOf(script.slice(index + 1), [], 2_000).run(stored);
      // The script numbers its calls by turn, so what follows differs in the ids of calls and no more.
      expect([last.status, last.steps.length, last.finalResponse]).toEqual([
        whole.status,
        whole.steps.length,
        'Done.',
      ]);
    }
  });
});

describe('iterate', () => {
  test('a reader that stops early leaves the execution in progress between two steps', async () => {
    const driver = scriptedDriver(call('a'), 'Done.');
    const loop = createAgentLoop({ driver, tools: [does('a')], clock: steppedClock(1_000) });
    let left: AgentState | undefined;
    for await (const state of loop.iterate(accepted)) {
      left = state;
      break;
    }
    expect([left?.status, left?.stepCount, driver.requests.length]).toEqual(['inProgress', 1, 1]);
    expect((await loop.run(left ?? accepted)).finalResponse).toBe('Done.');
    driver.assertComplete();
  });

  test('no work starts before the first state is requested', async () => {
    const driver = scriptedDriver('Hi.');
    createAgentLoop({ driver }).iterate(told());
    await new Promise((resolve) => setImmediate(resolve));
    expect(driver.requests).toEqual([]);
  });
});

describe('stream', () => {
  test('yields the events in order, including text as it arrives', async () => {
    const stream = loopOf(['One two three.']).stream(accepted);
    const events = await collect(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'execution-started',
      'step-started',
      'inference-started',
      'inference-delta',
      'inference-delta',
      'inference-delta',
      'inference-completed',
      'usage-updated',
      'step-completed',
      'continuation-evaluated',
      'execution-completed',
    ]);
    const text = events.map((event) => (event.type === 'inference-delta' ? event.delta.text : '')).join('');
    expect(text).toBe('One two three.');
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((left, right) => left - right));
  });

  test('passes ten thousand deltas in order', async () => {
    const pieces = Array.from({ length: 10_000 }, (_, index) => `${index} `);
    const driver: Driver = driverOf(async (_, { onDelta }) => {
      for (const text of pieces) onDelta?.({ type: 'text', id: 'text', text });
      return { text: pieces.join('') };
    });
    const stream = createAgentLoop({ driver }).stream(told());
    const events = await collect(stream);
    expect(events.flatMap((event) => (event.type === 'inference-delta' ? event.delta.text : []))).toEqual(
      pieces,
    );
    expect((await stream.result).finalResponse).toBe(pieces.join(''));
  });

  test('drops deltas that arrive after the response', async () => {
    let late: (() => void) | undefined;
    const driver: Driver = driverOf(async (_, { onDelta }) => {
      late = () => onDelta?.({ type: 'text', id: 'text', text: 'late' });
      return { text: 'Hi.' };
    });
    const stream = createAgentLoop({ driver, hooks: [{ afterStep: () => late?.() }] }).stream(told());
    const types = (await collect(stream)).map(({ type }) => type);
    late?.();
    expect(types).not.toContain('inference-delta');
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  test('runs to its end without a reader', async () => {
    const stream = loopOf(scripts['three steps'] ?? []).stream(accepted);
    expect((await stream.result).finalResponse).toBe('Done.');
    // What nobody has read is still there.
    expect((await collect(stream)).at(-1)?.type).toBe('execution-completed');
  });

  test('is cancelled when the reader stops early', async () => {
    const begun = deferred();
    const driver = driverOf((_, { signal }) => {
      begun.resolve();
      return new Promise((__, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    const stream = createAgentLoop({ driver }).stream(told());
    for await (const event of stream) {
      if (event.type !== 'inference-started') continue;
      await begun.promise;
      break;
    }
    const last = expectSound(await stream.result);
    expect([last.status, last.stopReason]).toEqual(['stopped', 'userRequested']);
    expect(await stream.next()).toEqual({ value: undefined, done: true });
    expect(await collect(stream)).toEqual([]);
  });

  test('passes the same events to a listener of the run', async () => {
    const heard: AgentEvent[] = [];
    const stream = loopOf(['Hi.']).stream(accepted, { onEvent: (event) => void heard.push(event) });
    expect(await collect(stream)).toEqual(heard);
  });

  test('serves two readers at the same time', async () => {
    const stream = loopOf(['Hi.']).stream(accepted);
    const all = Array.from({ length: 20 }, () => stream.next());
    const results = await Promise.all(all);
    expect(results.filter(({ done }) => !done).map(({ value }) => value?.type)[0]).toBe('execution-started');
    expect(results.at(-1)?.done).toBe(true);
  });
});

test('a thousand parallel runs of one loop do not mix', async () => {
  const driver = driverOf(async ({ messages }) => {
    const [first] = messages.slice(0, 1);
    const name = first?.role === 'user' && first.content[0]?.type === 'text' ? first.content[0].text : '';
    await Promise.resolve();
    if (messages.length > 1) return { text: `${name}: ${messages.length}` };
    return { content: [{ type: 'tool-call', toolCallId: 'same', toolName: 'echo', input: { name } }] };
  });
  const seen = new Map<string, number>();
  const loop = createAgentLoop({
    driver,
    tools: [does('echo', async (args) => args)],
    hooks: [
      { afterStep: (state) => state.withMetadata('steps', (state.metadata.get<number>('steps') ?? 0) + 1) },
    ],
    listeners: [({ state }) => void seen.set(state.agentId, (seen.get(state.agentId) ?? 0) + 1)],
  });
  const starts = Array.from({ length: 1_000 }, (_, index) =>
    AgentState.empty().withUserMessage(`agent ${index}`),
  );
  const ends = await Promise.all(starts.map((state) => loop.run(state)));
  ends.forEach((state, index) => {
    expect(state.agentId).toBe(starts[index]?.agentId);
    expect(state.finalResponse).toBe(`agent ${index}: 3`);
    expect(state.lastToolExecution?.value).toEqual({ name: `agent ${index}` });
    expect(state.metadata.get('steps')).toBe(2);
  });
  expect(new Set(ends.map(({ executionId }) => executionId)).size).toBe(1_000);
  expect(new Set(seen.values()).size).toBe(1);
  ends.slice(0, 20).forEach(expectSound);
});
