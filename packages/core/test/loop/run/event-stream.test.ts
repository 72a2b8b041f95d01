import { AgentState, createAgentLoop, subagent, type AgentEvent } from '@holdfast/core';
import type { Driver, InferenceOptions } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const question = AgentState.empty().withUserMessage('Count.');
const COUNT = 5_000;

/** A driver whose response has `COUNT` deltas, and that waits for the reader of the run. */
function patientDriver() {
  const sent = { deltas: 0, pauses: 0 };
  const stopped = Promise.withResolvers<void>();
  const driver: Driver = {
    async infer(_request, { onDelta, awaitReader, signal }: InferenceOptions) {
      signal.addEventListener('abort', () => stopped.resolve());
      for (; sent.deltas < COUNT && !signal.aborted; sent.deltas++) {
        onDelta?.({ type: 'text', id: 't', text: 'x' });
        const pause = awaitReader?.();
        if (pause === undefined) continue;
        sent.pauses++;
        await Promise.race([pause, stopped.promise]);
      }
      return { text: 'x'.repeat(sent.deltas), finishReason: signal.aborted ? 'aborted' : 'stop' };
    },
  };
  return { driver, sent };
}

/** Lets all promises settle that need no more than other promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a reader that is slower than the model', () => {
  test('makes the driver wait at 1,000 unread events, until it has read half of them', async () => {
    const { driver, sent } = patientDriver();
    const stream = createAgentLoop({ driver }).stream(question);
    await stream.next();
    await settle();
    expect([sent.deltas, sent.pauses]).toEqual([expect.closeTo(1_000, -1), 1]);
    const paused = sent.deltas;
    for (let read = 0; read < 400; read++) await stream.next();
    await settle();
    expect(sent.deltas).toBe(paused);
    for (let read = 0; read < 200; read++) await stream.next();
    await settle();
    expect(sent.deltas).toBeGreaterThan(paused);
    const events: AgentEvent[] = await allOf(stream);
    expect(events.at(-1)?.type).toBe('execution-completed');
    expect((await stream.result).finalResponse).toHaveLength(COUNT);
  });

  test('that stops early ends the wait, and aborts the run', async () => {
    const { driver, sent } = patientDriver();
    const stream = createAgentLoop({ driver }).stream(question);
    await stream.next();
    await settle();
    await stream.return();
    expect((await stream.result).status).toBe('stopped');
    expect(sent.deltas).toBeLessThan(COUNT);
  });

  test('that asks for the result ends the wait', async () => {
    const { driver } = patientDriver();
    const stream = createAgentLoop({ driver }).stream(question);
    await stream.next();
    await settle();
    expect((await stream.result).finalResponse).toHaveLength(COUNT);
  });

  test('ends the wait by the signal of the run', async () => {
    const { driver, sent } = patientDriver();
    const controller = new AbortController();
    const stream = createAgentLoop({ driver }).stream(question, { signal: controller.signal });
    await stream.next();
    await settle();
    controller.abort();
    const events = await allOf(stream);
    expect(events.at(-1)?.type).toBe('execution-stopped');
    expect(sent.deltas).toBeLessThan(COUNT);
  });

  test('makes the driver of a subagent wait', async () => {
    const { driver, sent } = patientDriver();
    const counter = subagent({
      name: 'counter',
      description: 'Counts.',
      loop: createAgentLoop({ driver }),
    });
    const outer = scriptedDriver({ calls: { counter: { prompt: 'Count.' } } }, 'Done.');
    const stream = createAgentLoop({ driver: outer, tools: [counter] }).stream(question);
    await stream.next();
    await settle();
    expect(sent).toEqual({ deltas: expect.closeTo(1_000, -2), pauses: 1 });
    const events = await allOf(stream);
    expect(events.filter(({ type }) => type === 'subagent').length).toBeGreaterThan(COUNT);
  });
});

describe('a stream', () => {
  test('that nobody reads does not wait', async () => {
    const { driver, sent } = patientDriver();
    const { result } = createAgentLoop({ driver }).stream(question);
    expect((await result).finalResponse).toHaveLength(COUNT);
    expect(sent.pauses).toBe(0);
  });

  test('that is read after the run has all events', async () => {
    const { driver } = patientDriver();
    const stream = createAgentLoop({ driver }).stream(question);
    await stream.result;
    const events = await allOf(stream);
    expect(events.filter(({ type }) => type === 'inference-delta')).toHaveLength(COUNT);
  });
});
