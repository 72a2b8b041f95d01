import {
  AgentState,
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  tool,
  toolResult,
  type Tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { SmallStore } from '../../support/small-store.ts';

function big(execute: () => unknown, others: Partial<Tool> = {}): Tool {
  return {
    ...tool({ name: 'big', description: 'Big.', inputSchema: { type: 'object' }, execute }),
    ...others,
  };
}

const text = (bytes: number) => 'x'.repeat(bytes);

describe('a result that is larger than maxResultBytes', () => {
  test.each([
    ['a value', () => Array.from({ length: 1_000 }, () => 'abc')],
    ['a model output', () => toolResult({ value: 1, modelOutput: { type: 'text', value: text(3_000) } })],
    ['metadata', () => toolResult({ value: 1, metadata: { rows: text(3_000) } })],
    ['text of three bytes a character', () => '語'.repeat(1_000)],
  ])('is not kept, and the run goes on: %s', async (_, execute) => {
    const driver = scriptedDriver({ calls: { big: {} } }, 'Done.');
    const loop = createAgentLoop({ driver, tools: [big(execute)], maxResultBytes: 2_048 });
    const state = await loop.run(AgentState.empty().withUserMessage('Go'));
    expect(state.status).toBe('completed');
    expect(state.metadata.get('rows')).toBeUndefined();
    const [execution] = state.steps[0]?.toolExecutions ?? [];
    expect(execution?.outcome).toEqual({
      type: 'succeeded',
      value: expect.stringMatching(
        /was called and completed.*has [\d]+ bytes of JSON, and the limit is 2048/,
      ),
    });
    expect(JSON.stringify(driver.requests[1]?.messages)).toContain('the limit is 2048');
  });

  test('that fits is kept, and so is one within an own limit', async () => {
    const run = async (maxResultBytes: number, bytes = 2_000) => {
      const driver = scriptedDriver({ calls: { big: {} } }, 'Done.');
      const loop = createAgentLoop({ driver, tools: [big(() => text(bytes))], maxResultBytes });
      const state = await loop.run(AgentState.empty().withUserMessage('Go'));
      return state.steps[0]?.toolExecutions[0]?.value;
    };
    expect(await run(2_048)).toBe(text(2_000));
    expect(await run(2_040)).toBe(text(2_000));
    expect(await run(2_020)).toContain('the limit is 2020');
    expect(await run(1_024, 600)).toBe(text(600));
  });

  test('an error keeps its outcome, its code and its size', async () => {
    const throwing = big(() => {
      throw Object.assign(new Error('No.'), { code: 'PAYMENT_REFUSED', data: { rows: text(5_000) } });
    });
    const driver = scriptedDriver({ calls: { big: {} } }, 'Done.');
    const loop = createAgentLoop({
      driver,
      tools: [throwing],
      maxResultBytes: 2_048,
      maxToolResultLength: Infinity,
    });
    const state = await loop.run(AgentState.empty().withUserMessage('Go'));
    expect(state.status).toBe('completed');
    expect(JSON.stringify(state.steps[0]?.toolExecutions[0]?.outcome).length).toBeLessThan(2_048);
  });

  test('the results of a step share half of what the store takes', async () => {
    const calls = Array.from({ length: 10 }, () => ['big', {}] as const);
    const driver = scriptedDriver({ calls }, 'Done.', 'Next.');
    const loop = createAgentLoop({ driver, tools: [big(() => text(20_000))] });
    const runtime = new SessionRuntime({ store: new SmallStore(100_000), agents: { a: loop } });
    const { sessionId } = await runtime.create({ definition: { name: 'a' } });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'));
    expect(state.status).toBe('completed');
    const kept = state.steps[0]?.toolExecutions.filter(({ value }) => value === text(20_000));
    expect(kept).toHaveLength(2);
    expect(JSON.stringify(state.steps[0]?.output).length).toBeLessThan(100_000);
    const next = await runtime.execute(sessionId, sendMessage('And now?'));
    expect(next.state).toMatchObject({ status: 'completed', finalResponse: 'Next.' });
  });

  test('many small results of a step are counted as they are', async () => {
    const calls = Array.from({ length: 40 }, () => ['big', {}] as const);
    const driver = scriptedDriver({ calls }, 'Done.');
    const loop = createAgentLoop({ driver, tools: [big(() => text(600))] });
    const runtime = new SessionRuntime({ store: new SmallStore(100_000), agents: { a: loop } });
    const { sessionId } = await runtime.create({ definition: { name: 'a' } });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'));
    expect(state.steps[0]?.toolExecutions.every(({ value }) => value === text(600))).toBe(true);
  });

  test('an afterToolUse hook cannot add what does not fit', async () => {
    const driver = scriptedDriver({ calls: { big: {} } }, 'Done.');
    const loop = createAgentLoop({
      driver,
      tools: [big(() => 'small')],
      maxResultBytes: 2_048,
      hooks: [
        {
          afterToolUse: (toolExecution) => ({
            toolExecution: toolExecution.withOutcome({ type: 'succeeded', value: text(4_000) }, 1),
          }),
        },
      ],
    });
    const state = await loop.run(AgentState.empty().withUserMessage('Go'));
    expect(state.steps[0]?.toolExecutions[0]?.value).toContain('the limit is 2048');
  });
});

test('a message that is larger than the store takes is refused at the door, and the session continues', async () => {
  const loop = createAgentLoop({ driver: scriptedDriver('Hello.') });
  const runtime = new SessionRuntime({ store: new SmallStore(100_000), agents: { a: loop } });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const refused = expect.objectContaining({
    code: 'SESSION_TOO_LARGE',
    message: expect.stringContaining('the limit is 100000'),
  });
  await expect(runtime.enqueue(sessionId, { type: 'message', content: text(100_000) })).rejects.toThrow(
    refused,
  );
  await runtime.enqueue(sessionId, { type: 'message', content: 'Hi.' });
  await runtime.advance(sessionId);
  expect((await runtime.get(sessionId)).state).toMatchObject({
    status: 'completed',
    finalResponse: 'Hello.',
  });
});
