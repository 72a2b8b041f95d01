import { AgentState, createAgentLoop, MemorySessionStore, SessionRuntime, tool } from '@holdfast/core';
import { providerTool, withCallMarks, type AssistantPart } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';

const search = providerTool({ name: 'search', id: 'openai.web_search', args: { searchContextSize: 'low' } });
const call = {
  type: 'tool-call',
  toolCallId: 's_1',
  toolName: 'search',
  input: { query: 'x' },
  providerExecuted: true,
} as const;
const result: AssistantPart = {
  type: 'tool-result',
  toolCallId: 's_1',
  toolName: 'search',
  output: { type: 'json', value: ['found'] },
};
const text = { type: 'text', text: 'Found.' } as const;
const asked = AgentState.empty().withUserMessage('Search.');

describe('a tool that a provider defines', () => {
  test('is declared to the driver, and never runs in the loop', async () => {
    const driver = scriptedDriver({ content: [call, result, text] });
    const state = await createAgentLoop({ driver, tools: [search] }).run(asked);
    expect(driver.requests[0]?.tools[0]?.providerTool).toEqual({
      id: 'openai.web_search',
      args: { searchContextSize: 'low' },
      isProviderExecuted: true,
    });
    expect([state.status, state.finalResponse, state.steps[0]?.toolExecutions]).toEqual([
      'completed',
      'Found.',
      [],
    ]);
    expect(() => search.execute({}, undefined as never)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });

  test('may return its result in a later response, before which the execution does not complete', async () => {
    const deferred = withCallMarks(call, { isDeferred: true });
    const driver = scriptedDriver({ content: [deferred], finishReason: 'stop' }, { content: [result, text] });
    const loop = createAgentLoop({ driver, tools: [search] });
    let state = asked;
    for await (const next of loop.iterate(asked)) {
      state = AgentState.fromJSON(JSON.parse(JSON.stringify(next)));
      break;
    }
    expect([state.status, state.steps[0]?.type]).toEqual(['inProgress', 'toolExecution']);
    const done = await loop.run(state);
    expect(driver.requests[1]?.messages.last?.content).toEqual([deferred]);
    expect([done.status, done.finalResponse]).toEqual(['completed', 'Found.']);
    driver.assertComplete();
  });

  test('is shown as such by an inspection', async () => {
    const agents = { seeker: createAgentLoop({ driver: scriptedDriver(), tools: [search] }) };
    const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
    const { sessionId } = await runtime.create({ definition: { name: 'seeker' } });
    const inspected = await runtime.inspect(sessionId);
    expect(inspected?.tools).toMatchObject([{ name: 'search', kind: 'provider' }]);
  });

  test.each([{ id: 'web_search' }, { id: '.x' }, { args: 5 }, { name: 'a b' }, { execute: () => 1 }])(
    'is refused with %o',
    (wrong) => {
      const init = { name: 'search', id: 'openai.web_search', ...wrong };
      expect(() => providerTool(init as never)).toThrow(
        expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
      );
    },
  );
});

describe('the members that only providers read', () => {
  const init = {
    name: 'add',
    description: 'Adds.',
    inputSchema: { type: 'object' },
    execute: () => 1,
  };

  test('are in the description of the tool', async () => {
    const driver = scriptedDriver('Hi.');
    const members = {
      strict: true,
      providerOptions: { anthropic: { deferLoading: true } },
      inputExamples: [{ input: { a: 1 } }],
    };
    await createAgentLoop({ driver, tools: [tool({ ...init, ...members })] }).run(asked);
    expect(driver.requests[0]?.tools[0]).toMatchObject(members);
  });

  test.each([
    { strict: 'yes' },
    { providerOptions: 5 },
    { inputExamples: [{ a: 1 }] },
    { inputExamples: {} },
  ])('are refused with %o', (wrong) => {
    expect(() => tool({ ...init, ...wrong } as never)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});
