import {
  AgentState,
  answer,
  answerError,
  assistantMessage,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  approve,
  sendMessage,
  SessionRuntime,
  subagent,
  systemMessage,
  tool,
  userMessage,
  type AgentEventListener,
  type Message,
  type SessionAction,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';

const object = { type: 'object' } as const;

function withConversation(...messages: readonly Message[]): AgentState {
  return AgentState.empty().withMessages(messages);
}

describe('user messages', () => {
  test('keep their ids, their metadata and their files', () => {
    const message = userMessage(
      [
        { type: 'text', text: 'See' },
        { type: 'file', mediaType: 'image/png', filename: 'a.png', data: { type: 'data', data: 'AAAA' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'reference', reference: { openai: 'f1' } } },
      ],
      { id: 'client-1', metadata: { from: 'phone' } },
    );
    expect(toUIMessages(withConversation(message))).toEqual([
      {
        id: 'client-1',
        role: 'user',
        metadata: { from: 'phone' },
        parts: [
          { type: 'text', text: 'See' },
          { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' },
          { type: 'file', mediaType: 'image/png', url: '', providerReference: { openai: 'f1' } },
        ],
      },
    ]);
  });

  test('have no tags of the session in their metadata', async () => {
    const { state } = await session({ driver: scriptedDriver('Hi.') });
    expect(toUIMessages(state)[0]).toEqual({
      id: 'u1',
      role: 'user',
      parts: [{ type: 'text', text: 'Go.' }],
    });
  });

  test('of a conversation that repeats a message have ids of their own', () => {
    const message = userMessage('Hi', { id: 'a' });
    const ids = toUIMessages(withConversation(message, message, message)).map(({ id }) => id);
    expect(ids).toEqual(['a', 'a:2', 'a:3']);
  });
});

test('system messages are omitted', () => {
  expect(toUIMessages(withConversation(systemMessage('Secret.'), userMessage('Hi')))).toHaveLength(1);
});

async function session(options: Parameters<typeof createAgentLoop>[0]) {
  const store = new MemorySessionStore();
  const runtime = new SessionRuntime({ store, agents: { a: createAgentLoop(options) } });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const { state } = await runtime.execute(sessionId, sendMessage('Go.', { id: 'u1' }));
  return { runtime, sessionId, state };
}

describe('an execution', () => {
  const add = tool({ name: 'add', description: 'Adds.', inputSchema: object, execute: () => 4 });

  test('is one message with its id, and a step-start part before each step', async () => {
    const { state } = await session({
      driver: scriptedDriver({ calls: { add: {} } }, 'Four.'),
      tools: [add],
    });
    const [, message] = toUIMessages(state);
    expect(message).toMatchObject({ id: state.executionId, role: 'assistant' });
    expect(message?.parts.map(({ type }) => type)).toEqual(['step-start', 'tool-add', 'step-start', 'text']);
  });

  test('has its status, model, usage and cost as metadata, with null for what is unknown', async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const driver = scriptedDriver({ text: 'Hi.', modelId: 'm-1', usage });
    const { state, runtime, sessionId } = await session({ driver });
    const metadata = {
      status: 'completed',
      model: 'm-1',
      usage: {
        inputTokens: 10,
        outputTokens: 5,
        cacheReadTokens: null,
        cacheWriteTokens: null,
        reasoningTokens: null,
      },
      cost: null,
    };
    expect(toUIMessages(state)[1]?.metadata).toEqual(metadata);
    const metadataOf = ({ status }: { status: string }) => ({ status });
    expect(toUIMessages(state, { metadataOf })[1]?.metadata).toEqual({ status: 'completed' });
    expect(toUIMessages(state, { metadataOf: () => undefined })[1]).not.toHaveProperty('metadata');
    const next = state.forNextExecution(state.updatedAt);
    expect(toUIMessages(next)[1]).not.toHaveProperty('metadata');
    const { executions: summaries } = await runtime.executions(sessionId);
    const executions = new Map(summaries.map((summary) => [summary.executionId, summary]));
    expect(toUIMessages(next, { executions })[1]?.metadata).toEqual({ ...metadata, model: null });
  });

  test('with messages on its way has them as steering-message parts', () => {
    const tags = { execution_id: '00000000-0000-4000-8000-000000000001' };
    const step = (text: string): Message => tagged(assistantMessage(text), tags);
    const steered = tagged(userMessage('Wait', { id: 'u2' }), tags);
    const state = withConversation(userMessage('Go', { id: 'u1' }), step('One'), steered, step('Two'));
    const types = toUIMessages(state).map(({ parts }) => parts.map(({ type }) => type));
    expect(types).toEqual([['text'], ['step-start', 'text', 'steering-message', 'step-start', 'text']]);
    expect(toUIMessages(state)[1]?.parts[2]).toEqual({
      type: 'steering-message',
      id: 'u2',
      parts: [{ type: 'text', text: 'Wait' }],
    });
  });

  function tagged(message: Message, tags: object): Message {
    return { ...message, metadata: { ...message.metadata, ...tags } };
  }

  test('shows the response that the model writes, and its open step without a response not at all', async () => {
    const seen: UIMessage[][] = [];
    const driver = scriptedDriver('Hi there.');
    const loop = createAgentLoop({ driver });
    const parts = [
      { type: 'reasoning', id: 'r', text: 'So' },
      { type: 'text', id: 't', text: 'Hi' },
      { type: 'tool-input', id: 'c1', toolName: 'add', text: '{"a"' },
      { type: 'tool-input', id: 'c2', toolName: 'add', text: '' },
      { type: 'text', id: 'u', text: '' },
    ] as const;
    await loop.run(AgentState.empty().withUserMessage('Go.'), {
      onEvent: ({ type, state }) => {
        if (type !== 'inference-started') return;
        const stepId = state.currentStep?.id ?? '';
        seen.push(toUIMessages(state), toUIMessages(state, { partial: { stepId, attempt: 1, parts } }));
        seen.push(toUIMessages(state, { partial: { stepId: 'other', attempt: 1, parts } }));
      },
    });
    const [without, live, ofOther] = seen;
    expect([without, ofOther]).toEqual([[expect.anything()], [expect.anything()]]);
    expect(live?.[1]?.parts).toEqual([
      { type: 'step-start' },
      { type: 'reasoning', id: '1', text: 'So', state: 'streaming' },
      { type: 'text', text: 'Hi', state: 'streaming' },
      { type: 'tool-add', toolCallId: 'c1', state: 'input-streaming', rawInput: '{"a"' },
      { type: 'tool-add', toolCallId: 'c2', state: 'input-streaming' },
    ]);
  });
});

describe('a call that waits', () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: object,
    needsApproval: true,
    execute: () => 'paid',
  });

  test('for approval has the id of its request, which the closed step keeps', async () => {
    const driver = scriptedDriver({ calls: { pay: { sum: 1 } } }, 'Done.');
    const { state } = await session({ driver, tools: [pay] });
    const { id: stepId } = state.currentStep ?? { id: '' };
    expect(toUIMessages(state)[1]?.parts[1]).toEqual({
      type: 'tool-pay',
      toolCallId: 'call_1_1',
      state: 'approval-requested',
      input: { sum: 1 },
      approval: { id: `${stepId}:call_1_1` },
    });
  });

  test('has after its result the part that the closed step has, also when the approval changed its input', async () => {
    const driver = scriptedDriver({ calls: { pay: { sum: 1 } } }, 'Done.');
    const { runtime, sessionId, state } = await session({ driver, tools: [pay] });
    const shown: UIMessage['parts'] = [];
    const onEvent: AgentEventListener = (event) => {
      if (event.type === 'tool-started' || event.type === 'tool-completed')
        shown.push(...(toUIMessages(event.state)[1]?.parts.slice(1) ?? []));
    };
    const [waiting] = pendingApprovals(state);
    const decided = approve(waiting ?? '', { input: { sum: 2 }, reason: 'Less.' });
    const { state: after } = await runtime.execute(sessionId, decided, { onEvent });
    const closed = toUIMessages(after)[1]?.parts[1];
    expect(shown).toEqual([
      expect.objectContaining({
        state: 'approval-responded',
        input: { sum: 2 },
        approval: { id: `${state.currentStep?.id}:call_1_1`, approved: true, reason: 'Less.' },
      }),
      closed,
    ]);
  });

  test('and gets a message meanwhile has it behind its step, before and after the step is closed', async () => {
    const driver = scriptedDriver({ calls: { pay: {} } }, { calls: { pay: {} } }, 'Done.');
    const { runtime, sessionId } = await session({ driver, tools: [pay] });
    const types = ({ parts }: UIMessage): string => parts.map(({ type }) => type).join(' ');
    const shown: string[][] = [];
    for (const id of ['u2', 'u3']) {
      const { state } = await runtime.execute(sessionId, sendMessage('Hurry.', { id }));
      shown.push(toUIMessages(state).map(types));
      const [waiting] = pendingApprovals(state);
      shown.push(toUIMessages((await runtime.execute(sessionId, approve(waiting ?? ''))).state).map(types));
    }
    const first = 'step-start tool-pay steering-message';
    const second = `${first} step-start tool-pay`;
    expect(shown).toEqual([
      ['text', first],
      ['text', second],
      ['text', `${second} steering-message`],
      ['text', `${second} steering-message step-start text`],
    ]);
  });

  test('for an answer has the input', async () => {
    const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: object });
    const { state } = await session({ driver: scriptedDriver({ calls: { ask: { q: 1 } } }), tools: [ask] });
    expect(toUIMessages(state)[1]?.parts[1]).toEqual({
      type: 'tool-ask',
      toolCallId: 'call_1_1',
      state: 'input-available',
      input: { q: 1 },
    });
  });

  test.each<[string, (call: string) => SessionAction, object]>([
    ['an answer', (call) => answer(call, { q: 2 }), { state: 'output-available', output: { q: 2 } }],
    ['an error', (call) => answerError(call, 'Closed.'), { state: 'output-error', errorText: 'Closed.' }],
  ])('and gets %s has it before a worker continues', async (_, answered, shown) => {
    const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: object });
    const driver = scriptedDriver({ calls: { ask: { q: 1 } } }, 'Done.', 'Done.');
    const { runtime, sessionId, state } = await session({ driver, tools: [ask] });
    const action = answered(pendingQuestions(state)[0]?.id ?? '');
    const { state: before } = await runtime.execute(sessionId, action, { steps: 'later' });
    const { state: after } = await runtime.execute(sessionId, sendMessage('Go on.'));
    const shownIn = (each: AgentState) => toUIMessages(each)[1]?.parts[1];
    expect(shownIn(before)).toMatchObject(shown);
    expect(shownIn(after)).toEqual(shownIn(before));
  });

  test('in a subagent is a part behind the call of the subagent, with the id of its execution', async () => {
    const inner = createAgentLoop({
      driver: scriptedDriver({ calls: { pay: { sum: 1 } } }, 'Paid.'),
      tools: [pay],
    });
    const research = subagent({ name: 'research', description: 'Finds out.', loop: inner });
    const driver = scriptedDriver({ calls: { research: { prompt: 'Look.' } } }, 'Done.');
    const { runtime, sessionId, state } = await session({ driver, tools: [research] });
    const [waiting] = pendingApprovals(state);
    if (!waiting) throw new Error('No call waits.');
    const { id: stepId } = state.currentStep ?? { id: '' };
    expect(toUIMessages(state)[1]?.parts).toEqual([
      { type: 'step-start' },
      { type: 'tool-research', toolCallId: 'call_1_1', state: 'input-available', input: { prompt: 'Look.' } },
      {
        type: 'tool-pay',
        toolCallId: waiting.id,
        state: 'approval-requested',
        input: { sum: 1 },
        approval: { id: `${stepId}:${waiting.id}` },
      },
    ]);
    const { state: after } = await runtime.execute(sessionId, approve(waiting));
    expect(toUIMessages(after)[1]?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'tool-research',
      'step-start',
      'text',
    ]);
  });
});

describe('the cost', () => {
  test('messages and parts that did not change are the same frozen objects', () => {
    const clock = steppedClock();
    const before = withConversation(userMessage('Hi', { clock }), assistantMessage('One', { clock }));
    const after = before.withMessages(before.messages.append(userMessage('Again', { clock })));
    const [first, second] = [toUIMessages(before), toUIMessages(after)];
    expect(second[0]).toBe(first[0]);
    expect(second[1]?.parts[1]).toBe(first[1]?.parts[1]);
    expect(Object.isFrozen(second[1]?.parts)).toBe(true);
    expect(toUIMessages(before)).toEqual(first);
  });

  test('of a state that grew is that of its new messages', () => {
    let reads = 0;
    const isDynamicTool = (): boolean => (reads++, false);
    const step = (index: number): Message =>
      assistantMessage([{ type: 'tool-call', toolCallId: `c${index}`, toolName: 'add', input: {} }]);
    let state = withConversation(...Array.from({ length: 1_000 }, (_, index) => step(index)));
    toUIMessages(state, { isDynamicTool });
    expect(reads).toBe(1_000);
    state = state.withMessages(state.messages.append(step(1_000)));
    toUIMessages(state, { isDynamicTool });
    expect(reads).toBe(1_001);
  });

  test('of a conversation whose mapping failed is paid again', () => {
    let fails = true;
    const isDynamicTool = (): boolean => {
      if (fails) throw new Error('unknown tool');
      return true;
    };
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: {} } as const;
    const state = withConversation(
      userMessage('Hi'),
      assistantMessage([{ type: 'text', text: 'One' }, call]),
    );
    expect(() => toUIMessages(state, { isDynamicTool })).toThrow('unknown tool');
    fails = false;
    const [, message] = toUIMessages(state, { isDynamicTool });
    expect(message?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'dynamic-tool']);
  });

  test('of a shorter conversation does not include parts of the longer one', () => {
    const long = withConversation(userMessage('Hi'), assistantMessage('One'), userMessage('Two'));
    toUIMessages(long);
    const short = long.withMessages(long.messages.slice(0, 1));
    expect(toUIMessages(short)).toHaveLength(1);
  });
});

test.each([
  [{ partail: undefined }, 'partail'],
  [{ isDynamicTool: true }, 'isDynamicTool'],
  [{ hasProviderMetadata: 'yes' }, 'hasProviderMetadata'],
])('refuses the options %j', (options, message) => {
  expect(() => toUIMessages(AgentState.empty(), options as object)).toThrow(message);
});
