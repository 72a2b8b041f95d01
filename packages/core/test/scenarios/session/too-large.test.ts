import {
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  subagent,
  tool,
  toolResult,
  type AgentLoopOptions,
  type AgentSession,
  type Tool,
} from '@holdfast/core';
import { DriverError, InferenceResponse, type Driver, type InferenceRequest } from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { SmallStore } from '../../support/small-store.ts';

/** Values that the store does not take: the run continues without them, and no call runs twice. */

const MAX_BYTES = 400_000;
const text = (bytes: number) => 'x'.repeat(bytes);

function payTool(paid: string[], execute: Tool['execute'] = () => 'Paid.'): Tool {
  return tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute: (args, context) => {
      paid.push(context.idempotencyKey);
      return execute(args, context);
    },
  });
}

/** Runs two messages with an engine's `advance`, and returns the session after each. */
async function playTwo(options: Partial<AgentLoopOptions>, driver: Driver): Promise<readonly AgentSession[]> {
  const loop = createAgentLoop({ ...options, driver });
  const runtime = new SessionRuntime({ store: new SmallStore(MAX_BYTES), agents: { a: loop } });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const sessions: AgentSession[] = [];
  for (const content of ['First.', 'Second.']) {
    await runtime.enqueue(sessionId, { type: 'message', content });
    const { error } = await runtime.advance(sessionId);
    expect(error).toBeUndefined();
    sessions.push(await runtime.get(sessionId));
  }
  return sessions;
}

describe('a response that the store does not take ends its execution, and the session continues', () => {
  const answers: Readonly<Record<string, ScriptedAnswer>> = {
    'a text': text(MAX_BYTES),
    'reasoning and a text': {
      content: [
        { type: 'reasoning', text: text(MAX_BYTES / 2) },
        { type: 'text', text: text(MAX_BYTES / 2) },
      ],
    },
    'a picture': {
      content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: text(MAX_BYTES) } }],
    },
    'the arguments of a call': { calls: { pay: { note: text(MAX_BYTES / 4) } } },
    'the name of a call': {
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: text(MAX_BYTES), input: {} }],
    },
    'many calls': {
      calls: Array.from({ length: 40 }, () => ['pay', { note: text(MAX_BYTES / 100) }] as const),
    },
  };
  test.each(Object.entries(answers))('%s', async (_, answer) => {
    const paid: string[] = [];
    const driver = scriptedDriver(answer, 'Hello.');
    const [first, second] = await playTwo({ tools: [payTool(paid)] }, driver);
    expect(first?.state).toMatchObject({ status: 'failed', errors: [{ code: 'DRIVER_FAILED' }] });
    expect(first?.state.errors[0]?.message).toMatch(
      /was not kept: it has \d+ bytes of JSON, and the limit is \d+/,
    );
    expect(first?.state.usage.totalTokens).toBeGreaterThan(0);
    expect(second?.state).toMatchObject({ status: 'completed', finalResponse: 'Hello.' });
    expect(paid).toEqual([]);
  });

  test('a part of a response that broke off', async () => {
    const driver = scriptedDriver(
      new DriverError('unknown', 'Cut.', { partialResponse: { text: text(MAX_BYTES) } }),
      'Hello.',
    );
    const [first, second] = await playTwo({}, driver);
    expect(first?.state).toMatchObject({ status: 'failed', errors: [{ message: 'Cut.' }] });
    expect(second?.state.finalResponse).toBe('Hello.');
  });

  test('a response that a hook enlarged', async () => {
    let calls = 0;
    const hook = {
      afterInference: () =>
        calls++ === 0 ? { response: InferenceResponse.of({ text: text(MAX_BYTES) }) } : undefined,
    };
    const [first, second] = await playTwo({ hooks: [hook] }, scriptedDriver('Small.', 'Hello.'));
    expect(first?.state.status).toBe('failed');
    expect(second?.state.finalResponse).toBe('Hello.');
  });
});

test('a response of nearly the size that the store takes is kept', async () => {
  const [first] = await playTwo({}, scriptedDriver(text(0.9 * MAX_BYTES), 'Hello.'));
  expect(first?.state.finalResponse).toBe(text(0.9 * MAX_BYTES));
});

test('progress that the store does not take is refused, and the tool decides', async () => {
  const paid: string[] = [];
  const seen: unknown[] = [];
  const pay = payTool(paid, (_, { saveProgress }) => {
    saveProgress({ page: 1 });
    try {
      saveProgress(text(0.6 * MAX_BYTES));
    } catch (error) {
      seen.push(error);
    }
    return 'Paid.';
  });
  const [first] = await playTwo({ tools: [pay] }, scriptedDriver({ calls: { pay: {} } }, 'Done.', 'Hello.'));
  expect(first?.state.finalResponse).toBe('Done.');
  expect(first?.state.steps[0]?.toolExecutions[0]).toMatchObject({ progress: { page: 1 }, value: 'Paid.' });
  expect(seen).toEqual([expect.objectContaining({ code: 'TOOL_RESULT_TOO_LARGE' })]);
});

describe('subagents whose results grow beyond the store work to their end', () => {
  const RESULT_BYTES = 30_000;

  /** Calls the tool a number of times, one after the other, and then answers with what it read. */
  const worker = (count: number, name = 'pay'): Driver => ({
    async infer({ messages }: InferenceRequest) {
      const results = messages.toArray().filter(({ role }) => role === 'tool');
      const usage = { inputTokens: 1, outputTokens: 1 };
      if (results.length < count)
        return {
          content: [
            { type: 'tool-call', toolCallId: `c${results.length}`, toolName: name, input: { prompt: 'Go' } },
          ],
          usage,
        };
      const kept = results.filter((message) => !JSON.stringify(message).includes('was not kept'));
      return { text: `${results.length} results, ${kept.length} kept`, usage };
    },
  });
  const agent = (driver: Driver, ...tools: Tool[]) =>
    subagent({
      name: 'worker',
      description: 'Works.',
      loop: createAgentLoop({ driver, tools }),
    });

  test.each([
    ['one', 1, 15],
    ['three at once', 3, 12],
    ['ten at once', 10, 4],
  ])('%s', async (_, width, count) => {
    const paid: string[] = [];
    const pay = payTool(paid, () => text(RESULT_BYTES));
    const calls = Array.from({ length: width }, () => ['worker', { prompt: 'Go' }] as const);
    const driver = scriptedDriver({ calls }, 'Done.', 'Hello.');
    const sessions = await playTwo({ tools: [agent(worker(count), pay)] }, driver);
    expect(sessions.map(({ state }) => state.finalResponse)).toEqual(['Done.', 'Hello.']);
    expect(new Set(paid).size).toBe(width * count);
    expect(paid).toHaveLength(width * count);
    const values = sessions[0]?.state.steps[0]?.toolExecutions.map(({ value }) => value);
    expect(values).toEqual(
      calls.map(() => expect.stringMatching(new RegExp(`^${count} results, \\d+ kept$`))),
    );
  });

  test('a subagent inside of a subagent', async () => {
    const paid: string[] = [];
    const inner = agent(
      worker(6),
      payTool(paid, () => text(RESULT_BYTES)),
    );
    const outer = agent(worker(3, 'worker'), inner);
    const driver = scriptedDriver({ calls: { worker: { prompt: 'Go' } } }, 'Done.', 'Hello.');
    const sessions = await playTwo({ tools: [outer] }, driver);
    expect(sessions.map(({ state }) => state.finalResponse)).toEqual(['Done.', 'Hello.']);
    expect(new Set(paid).size).toBe(18);
    expect(paid).toHaveLength(18);
  });

  test('responses that the store does not take end the subagent only', async () => {
    const driver = scriptedDriver({ calls: { worker: { prompt: 'Go' } } }, 'Done.', 'Hello.');
    const paid: string[] = [];
    const wordy: Driver = {
      async infer({ messages }) {
        const calls = [
          { type: 'text', text: text(10_000) },
          { type: 'tool-call', toolCallId: `c${messages.length}`, toolName: 'pay', input: {} },
        ] as const;
        return { content: calls, usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const sessions = await playTwo({ tools: [agent(wordy, payTool(paid))] }, driver);
    expect(sessions.map(({ state }) => state.finalResponse)).toEqual(['Done.', 'Hello.']);
    expect(sessions[0]?.state.steps[0]?.toolExecutions[0]).toMatchObject({
      outcome: { type: 'failed' },
      error: { code: 'SUBAGENT_FAILED', message: expect.stringMatching(/the limit is \d+/) },
    });
    expect(new Set(paid).size).toBe(paid.length);
  });
});

test('metadata of results grows to what the store takes', async () => {
  const paid: string[] = [];
  const pay = payTool(paid, (_, { idempotencyKey }) =>
    toolResult({ value: 'Paid.', metadata: { [idempotencyKey]: text(60_000) } }),
  );
  const calls = Array.from({ length: 6 }, () => ({ calls: { pay: {} } }));
  const [first, second] = await playTwo({ tools: [pay] }, scriptedDriver(...calls, 'Done.', 'Hello.'));
  expect([first?.state.finalResponse, second?.state.finalResponse]).toEqual(['Done.', 'Hello.']);
  const values = first?.state.steps.flatMap(({ toolExecutions }) => toolExecutions.map(({ value }) => value));
  expect(values?.slice(0, 2)).toEqual(['Paid.', 'Paid.']);
  expect(values?.at(-1)).toMatch(/was called and completed.*was not kept/);
});

describe('an error that the store does not take is shortened, and the session continues', () => {
  const large = () =>
    Object.assign(new Error('No. '.repeat(1_000)), { code: 'EIO', data: { page: text(2 ** 20) } });
  const recorded = { code: 'EIO', message: expect.stringMatching(/No\. [^[]*\n\[[^[]*were not kept\.\]$/) };

  test('of a driver', async () => {
    const [first, second] = await playTwo({}, scriptedDriver(large(), 'Hello.'));
    expect(first?.state).toMatchObject({ status: 'failed', errors: [recorded] });
    expect(second?.state.finalResponse).toBe('Hello.');
  });

  test('of a hook', async () => {
    let isFirst = true;
    const beforeStep = () => {
      if (!isFirst) return;
      isFirst = false;
      throw large();
    };
    const [first, second] = await playTwo({ hooks: [{ beforeStep }] }, scriptedDriver('Hello.'));
    const [error] = first?.state.errors ?? [];
    expect([first?.state.status, error?.message]).toEqual(['failed', recorded.message]);
    expect(second?.state.finalResponse).toBe('Hello.');
  });
});

test('execute() continues too', async () => {
  const loop = createAgentLoop({ driver: scriptedDriver(text(MAX_BYTES), 'Hello.') });
  const runtime = new SessionRuntime({ store: new SmallStore(MAX_BYTES), agents: { a: loop } });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  expect((await runtime.execute(sessionId, sendMessage('First.'))).state.status).toBe('failed');
  expect((await runtime.execute(sessionId, sendMessage('Second.'))).state.finalResponse).toBe('Hello.');
});
