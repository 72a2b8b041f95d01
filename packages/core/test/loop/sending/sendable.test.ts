import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  systemMessage,
  tool,
  userMessage,
  type Message,
  type Messages,
  type Tool,
} from '@holdfast/core';
import {
  DriverError,
  List,
  STRICTEST_FORM,
  toolMessage,
  USUAL_FORM,
  type AssistantPart,
  type Driver,
  type InferenceRequest,
  type RequestForm,
} from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases, codePoint } from '../../../../../tools/config/vitest.properties.ts';
import { fingerprintOf, sendableRequest, sentMessages } from '../../../src/loop/sending/sendable.ts';
import { withTags, type MessageTags } from '../../../src/state/messages/message-tags.ts';
import { assistantContents } from '../../support/arbitraries.ts';
import { line, written } from '../../support/written.ts';

const anyState = AgentState.empty();
/** One list object, as a loop has it: what is known of a conversation holds for the same list of tools. */
const NO_TOOLS: InferenceRequest['tools'] = [];

function requestOf(messages: Messages, others: Partial<InferenceRequest> = {}): InferenceRequest {
  const settings = { systemPrompt: undefined, responseFormat: undefined, llmConfig: undefined };
  return { ...settings, tools: NO_TOOLS, toolChoice: 'auto', messages, ...others };
}

function sent(messages: readonly Message[], form: RequestForm = USUAL_FORM): readonly Message[] {
  const sending = { form, state: anyState, model: undefined };
  return sendableRequest(requestOf(List.from(messages)), sending).request.messages.toArray();
}

function call(toolCallId: string, toolName = 'look', input: unknown = {}): AssistantPart {
  return { type: 'tool-call', toolCallId, toolName, input } as AssistantPart;
}

function result(toolCallId: string, toolName = 'look', value = 'y') {
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'text', value } } as const;
}

/** A form with other demands than the usual one. */
function formWith(demands: Partial<RequestForm>): RequestForm {
  return { ...USUAL_FORM, name: JSON.stringify(demands), ...demands };
}

test('a legal history is sent as it is: the same list', () => {
  const messages = List.from(written('u a:1 t:1 a u'));
  const sending = { form: USUAL_FORM, state: anyState, model: undefined };
  expect(sendableRequest(requestOf(messages), sending).request.messages).toBe(messages);
  const longer = messages.concat(written('a:2 t:2'));
  expect(sendableRequest(requestOf(longer), sending).request.messages).toBe(longer);
});

describe('names and ids', () => {
  test.each(['multi_tool_use.parallel', 'a b', 'x'.repeat(65), '9lives', '', 'ü', '-'])(
    'the name %j becomes legal, in calls and results alike',
    (name) => {
      const [, answer, results] = sent([
        userMessage('Hi'),
        assistantMessage([call('1', name)]),
        toolMessage([result('1', name)]),
      ]);
      const [first, second] = [answer?.content[0], results?.content[0]] as { toolName?: string }[];
      expect(first?.toolName).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      expect(second?.toolName).toBe(first?.toolName);
      expect(first?.toolName).not.toBe(name);
    },
  );

  test.each([
    [USUAL_FORM, /^[A-Za-z0-9_-]{1,40}$/],
    [STRICTEST_FORM, /^[A-Za-z0-9]{9}$/],
  ] as const)('ids become legal and stay different: $0.name', (form, legal) => {
    const ids = [
      'functions.x:0',
      'functions.x:1',
      'functions_x_0',
      'abcdefghi',
      'abcdefghi_2',
      'y'.repeat(43),
      'ü',
      '',
    ];
    const history = ids.flatMap((id) => [assistantMessage([call(id)]), toolMessage([result(id)])]);
    const answers = sent([userMessage('Hi'), ...history], form).filter(({ role }) => role !== 'user');
    const idsSent = answers.flatMap(({ content }) =>
      content
        .filter(({ type }) => type !== 'text')
        .map((part) => (part as { toolCallId: string }).toolCallId),
    );
    for (const id of idsSent) expect(id).toMatch(legal);
    const [calls, results] = [
      idsSent.filter((_, at) => at % 2 === 0),
      idsSent.filter((_, at) => at % 2 === 1),
    ];
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(ids.length);
  });

  test('different ids stay different, whatever they are', () => {
    const anyId = fc.oneof(fc.string({ unit: codePoint, maxLength: 50 }), fc.stringMatching(/^[a-c0-1]{9}$/));
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { maxLength: 20 }), (ids) => {
        const parts = sent(
          [userMessage('Hi'), assistantMessage(ids.map((id) => call(id)))],
          STRICTEST_FORM,
        )[1]?.content;
        const calls = (parts ?? []).filter(({ type }) => type === 'tool-call');
        const idsSent = calls.map((part) => (part as { toolCallId: string }).toolCallId);
        expect(new Set(idsSent).size).toBe(new Set(ids.map((id) => id.toWellFormed())).size);
      }),
    );
  });

  test('a tool with a name that the provider refuses is renamed, and its calls come back under its own name', async () => {
    const form = formWith({ toolName: { first: 'a-z', characters: 'a-z0-9', maxLength: 20 } });
    const seen: InferenceRequest[] = [];
    const scripted = scriptedDriver((request) => {
      seen.push(request);
      return { calls: { [request.tools[0]?.name ?? '']: {} } };
    }, 'Done.');
    const loop = createAgentLoop({
      driver: { infer: (...call_) => scripted.infer(...call_), formOf: () => form },
      tools: [
        tool({
          name: '1_Look',
          description: 'Looks.',
          inputSchema: { type: 'object' },
          execute: () => 'seen',
        }),
      ],
    });
    const state = await loop.run(AgentState.empty().withUserMessage('Look'));
    expect(seen[0]?.tools[0]?.name).toMatch(/^[a-z][a-z0-9]{1,19}$/);
    expect(state.steps[0]?.toolExecutions[0]).toMatchObject({ name: '1_Look', value: 'seen' });
  });
});

describe('arguments and texts', () => {
  test.each([[[]], [5], [null], ['a'], [true]])('arguments that are no object become one: %j', (input) => {
    const [, answer] = sent([userMessage('Hi'), assistantMessage([call('1', 'look', input)])]);
    expect(answer?.content[0]).toMatchObject({ input: {} });
  });

  test('lone surrogates are replaced, in every text and name', () => {
    const odd = 'a\ud800b';
    const messages = sent([
      userMessage(odd),
      assistantMessage([{ type: 'text', text: odd }, call('1', 'look', { [odd]: [odd] })]),
      toolMessage([result('1', 'look', odd)]),
    ]);
    expect(JSON.stringify(messages).includes('\\ud800')).toBe(false);
    expect(JSON.stringify(messages.map(({ content }) => content))).toContain('a\ufffdb');
    const { request } = sendableRequest(requestOf(List.from(written('u')), { systemPrompt: odd }), {
      form: USUAL_FORM,
      state: anyState,
      model: undefined,
    });
    expect(request.systemPrompt).toBe('a\ufffdb');
  });

  test.each([
    ['a blank message of the user', [userMessage(' \n')], ['(empty message)']],
    [
      'a blank text beside others',
      [
        userMessage([
          { type: 'text', text: ' ' },
          { type: 'text', text: 'b' },
        ]),
      ],
      ['b'],
    ],
    ['a blank answer', [userMessage('a'), assistantMessage('\n\n'), userMessage('b')], ['a', 'b']],
    ['a blank system message', [systemMessage(' '), userMessage('a')], ['a']],
  ] as const)('%s', (_, messages, texts) => {
    expect(sent(messages).map(({ content }) => (content[0] as { text: string }).text)).toEqual(texts);
  });

  test('a blank result says that there is no output', () => {
    const [, , results] = sent([
      userMessage('a'),
      assistantMessage([call('1')]),
      toolMessage([result('1', 'look', '')]),
    ]);
    expect(results?.content[0]).toMatchObject({ output: { type: 'text', value: '(no output)' } });
  });

  test.each([
    ['data:image/png;base64,iVBORw0KGgo=', { data: 'iVBORw0KGgo=', mediaType: 'image/png' }],
    ['iVBO Rw0K\nGgo', { data: 'iVBORw0KGgo=', mediaType: 'image/jpeg' }],
    ['-_-_', { data: '+/+/', mediaType: 'image/jpeg' }],
  ])('the data of a file becomes base64: %j', (data, { data: sentData, mediaType }) => {
    const file = { type: 'file', mediaType: 'image/jpeg', data: { type: 'data', data } } as const;
    expect(sent([userMessage([file])])[0]?.content).toEqual([
      { type: 'file', mediaType, data: { type: 'data', data: sentData } },
    ]);
  });

  test.each([
    { type: 'data', data: '' } as const,
    { type: 'data', data: '%%%' } as const,
    { type: 'url', url: 'no address' } as const,
  ])('an unreadable file is replaced by a text: %j', (data) => {
    const file = { type: 'file', mediaType: 'image/png', filename: 'a.png', data } as const;
    expect(sent([userMessage([file])])[0]?.content).toEqual([
      { type: 'text', text: '[The file a.png cannot be read.]' },
    ]);
  });
});

describe('order and roles', () => {
  test.each([
    ['an answer first', { takesFirstAnswer: false }, 'a u', 'u a u'],
    ['results first', { takesFirstAnswer: false }, 's a:1 t:1', 's u a:1 t:1'],
    ['an answer last', { takesLastAnswer: false }, 'u a', 'u a u'],
    ['an answer last, at a call of the provider', { takesLastAnswer: false }, 'u a:<1', 'u a:<1'],
    [
      'an answer last, after a call of the provider',
      { takesLastAnswer: false },
      'u a:<1,>1,x',
      'u a:<1,>1,x u',
    ],
    ['messages of the user in a row', { takesUserMessagesInARow: false }, 'u u u a u', 'u a u'],
    [
      'a message of the user after results',
      { takesUserMessageAfterResults: false },
      'u a:1 t:1 u',
      'u a:1 t:1 a u',
    ],
    ['a later system message', { takesLaterSystemMessages: false }, 's u a s u', 's u a u u'],
    [
      'a later system message, joined',
      { takesLaterSystemMessages: false, takesUserMessagesInARow: false },
      'u a s u',
      'u a u',
    ],
  ] as const)('%s', (_, demands, given, expected) => {
    expect(line(sent(written(given), formWith(demands)))).toBe(expected);
    expect(line(sent(written(given)))).toBe(given);
  });

  test('answers in a row that steps add one by one', () => {
    const form = formWith({ takesUserMessagesInARow: false });
    const state = AgentState.empty().withExecutionStarted(0);
    const tags = { execution_id: state.executionId } as MessageTags;
    let messages: Messages = List.from(written('u'));
    for (const answer of written('a a a')) {
      messages = messages.append(withTags(answer, tags));
      const { request } = sendableRequest(requestOf(messages), { form, state, model: undefined });
      expect(line(request.messages)).toBe('u a');
    }
  });

  test('no messages at all', () => {
    expect(line(sent([], formWith({ takesFirstAnswer: false })))).toBe('u');
    expect(line(sent([]))).toBe('');
  });
});

describe('parts of another provider', () => {
  test('calls that another provider ran are omitted with their results', () => {
    const history = written('u a:<srv_1,>srv_1,<ws_1,>ws_1,x u');
    expect(line(sent(history, formWith({ ownCallIds: '^srv_' })))).toBe('u a:<srv_1,>srv_1,x u');
    const { ownCallIds: _, ...none } = USUAL_FORM;
    expect(line(sent(history, { ...none, name: 'none' }))).toBe('u a u');
  });

  test('options that refer to the reasoning of an earlier execution are omitted with it', () => {
    const options = { openai: { itemId: 'msg_1', phase: 'final' } };
    const answer = assistantMessage([
      { type: 'reasoning', text: 'hm', providerOptions: { openai: { itemId: 'rs_1' } } },
      { type: 'text', text: 'a', providerOptions: options },
    ]);
    expect(sent([userMessage('u'), answer], formWith({ boundOptions: ['itemId'] }))[1]?.content).toEqual([
      { type: 'text', text: 'a', providerOptions: { openai: { phase: 'final' } } },
    ]);
  });

  test('a provider that demands reasoning or options of calls receives them', () => {
    const history = [userMessage('u'), assistantMessage([call('1'), call('2')])];
    const form = formWith({
      reasoningBeforeCalls: '-',
      callOptions: { google: { thoughtSignature: 'none' } },
    });
    expect(sent(history, form)[1]?.content).toEqual([
      { type: 'reasoning', text: '-' },
      { ...call('1'), providerOptions: { google: { thoughtSignature: 'none' } } },
      call('2'),
    ]);
  });
});

describe('reasoning', () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute: () => 'seen',
  });
  const thinking = (id: string) => ({
    content: [{ type: 'reasoning', text: `hm ${id}` }, call(id)] as AssistantPart[],
  });

  test('is sent with the calls that its provider ran, which are known to the same provider alone', async () => {
    const search = { toolCallId: 's_1', toolName: 'search' };
    const ran: readonly AssistantPart[] = [
      { type: 'tool-call', ...search, input: {}, providerExecuted: true },
      { type: 'tool-result', ...search, output: { type: 'text', value: 'y' } },
    ];
    const scripted = scriptedDriver(
      { content: [{ type: 'reasoning', text: 'hm' }, ...ran, call('1')] },
      'One.',
      'Two.',
    );
    const { ownCallIds: _, ...form } = USUAL_FORM;
    const driver: Driver = { infer: (...given) => scripted.infer(...given), formOf: () => form };
    const loop = createAgentLoop({ driver, tools: [look], compiler: ({ messages }) => messages });
    const state = await loop.run(AgentState.empty().withUserMessage('u'));
    await loop.run(state.withUserMessage('u'));
    expect(scripted.requests.map(({ messages }) => line(messages))).toEqual([
      'u',
      'u a:r,<s_1,>s_1,1 t:1',
      'u a:1 t:1 a u',
    ]);
  });

  test('returns, with those calls and their results, when the first model is called again', async () => {
    const search = { toolCallId: 's_1', toolName: 'search' };
    const ran: readonly AssistantPart[] = [
      { type: 'tool-call', ...search, input: {}, providerExecuted: true },
      { type: 'tool-result', ...search, output: { type: 'text', value: 'y' } },
    ];
    const scripted = scriptedDriver({ content: [{ type: 'reasoning', text: 'hm' }, ...ran, call('1')] });
    const form = formWith({ ownCallsNeedReasoning: true });
    const driver: Driver = { infer: (...given) => scripted.infer(...given), formOf: () => form };
    let state = AgentState.empty().withLlmConfig({ model: 'a' }).withUserMessage('u');
    for await (state of createAgentLoop({ driver, tools: [look] }).iterate(state)) break;
    const { tools } = scripted.requests[0] as InferenceRequest;
    const request = requestOf(state.messages, { tools });
    const sentTo = (model: string) => line(sendableRequest(request, { form, state, model }).request.messages);
    expect(['a', 'b', 'a'].map(sentTo)).toEqual([
      'u a:r,<s_1,>s_1,1 t:1',
      'u a:1 t:1',
      'u a:r,<s_1,>s_1,1 t:1',
    ]);
  });

  test('is sent within its execution, and not in the next one', async () => {
    const driver = scriptedDriver(thinking('1'), thinking('2'), 'One.', 'Two.');
    const loop = createAgentLoop({ driver, tools: [look], compiler: ({ messages }) => messages });
    const state = await loop.run(AgentState.empty().withUserMessage('u'));
    await loop.run(state.withUserMessage('u'));
    expect(driver.requests.map(({ messages }) => line(messages))).toEqual([
      'u',
      'u a:r,1 t:1',
      'u a:r,1 t:1 a:r,2 t:2',
      'u a:1 t:1 a:2 t:2 a u',
    ]);
  });

  test.each([
    ['the system prompt', { systemPrompt: 'Be kind.' }],
    ['a tool', { added: true }],
    ['the model', { model: 'other' }],
  ] as const)('is not sent after a change of %s', async (_, change) => {
    const driver = scriptedDriver(thinking('1'), thinking('2'), 'One.');
    const after = tool({
      name: 'after',
      description: 'More.',
      inputSchema: { type: 'object' },
      execute: () => 1,
    });
    const loop = (tools: readonly Tool[] = [look]) => createAgentLoop({ driver, tools });
    let last = AgentState.empty().withSystemPrompt('Be brief.').withUserMessage('u');
    for await (const state of loop().iterate(last)) {
      last = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
      if (state.stepCount === 2) break;
    }
    if ('systemPrompt' in change) last = last.withSystemPrompt(change.systemPrompt);
    if ('model' in change) last = last.withLlmConfig({ model: change.model });
    await loop('added' in change ? [look, after] : [look]).run(last);
    expect(line(driver.requests.at(-1)?.messages ?? [])).toBe('u a:1 t:1 a:2 t:2');
    expect(line(driver.requests.at(-2)?.messages ?? [])).toBe('u a:r,1 t:1');
  });

  test('is sent by another process with the same request', async () => {
    const driver = scriptedDriver(thinking('1'), 'One.');
    const loop = createAgentLoop({ driver, tools: [look] });
    let last = AgentState.empty().withUserMessage('u');
    for await (const state of loop.iterate(last)) {
      last = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
      if (state.stepCount === 1) break;
    }
    expect(last.steps[0]?.fingerprint).toMatch(/^[a-z0-9]{14}$/);
    await loop.run(last);
    expect(line(driver.requests.at(-1)?.messages ?? [])).toBe('u a:r,1 t:1');
  });
});

describe('a request that the provider refuses', () => {
  const refusal = () =>
    new DriverError('invalidRequest', 'messages.1: text content blocks must be non-empty');
  const history = AgentState.empty().withMessages(written('u a:call_1 t:call_1 a')).withUserMessage('u');

  test('is repeated once in the strictest form, which the next steps use at once', async () => {
    const look = tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      execute: () => 'seen',
    });
    const driver = scriptedDriver(refusal(), { calls: { look: {} } }, 'Done.');
    const loop = createAgentLoop({ driver, tools: [look], compiler: ({ messages }) => messages });
    const state = await loop.run(history);
    expect(state.status).toBe('completed');
    expect(state.steps.map((step) => state.requestOf(step).form)).toEqual(['strictest', 'strictest']);
    const ids = driver.requests.map(({ messages }) => line(messages).match(/a:(?:x,)?(\w+)/)?.[1]);
    expect(ids[0]).toBe('call_1');
    expect(ids.slice(1)).toEqual([ids[1], ids[1]]);
    expect(ids[1]).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  test('fails when the provider refuses the strictest form too', async () => {
    const driver = scriptedDriver(refusal(), refusal());
    const state = await createAgentLoop({ driver }).run(history);
    expect(state).toMatchObject({ status: 'failed' });
    expect(driver.requests).toHaveLength(2);
  });

  test('is not repeated when the strictest form is the same request', async () => {
    const driver = scriptedDriver(refusal());
    const state = await createAgentLoop({ driver }).run(AgentState.empty().withUserMessage('u'));
    expect(state).toMatchObject({ status: 'failed' });
    driver.assertComplete();
  });
});

test('compiledFor() gives what was sent for a step, beside what was said', async () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute: () => ' ',
  });
  const driver = scriptedDriver({ content: [call('functions.look:0')] }, 'Done.');
  const loop = createAgentLoop({ driver, tools: [look] });
  const state = await loop.run(AgentState.empty().withUserMessage('u'));
  const compiled = loop.compiledFor?.(state, state.steps[1]?.id ?? '');
  expect(compiled?.messages.map((one) => one.sent)).toEqual(driver.requests[1]?.messages.toArray());
  expect(compiled?.messages.map((one) => one.said)).toEqual(state.steps[1]?.input.toArray());
  expect(compiled?.messages.map((one) => one.sent === one.said)).toEqual([true, false, false]);
  expect(() => loop.compiledFor?.(state, 'x')).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});

test('a repair that continues gives what a repair from the start gives', async () => {
  const loop = createAgentLoop({ driver: scriptedDriver({ calls: { look: {} } }, 'Done.') });
  let running = AgentState.empty().withLlmConfig({ model: 'a' }).withUserMessage('u');
  for await (running of loop.iterate(running)) if (running.stepCount === 1) break;
  const tags = { step_id: running.steps[0]?.id, execution_id: running.executionId } as MessageTags;
  const anyMessage: fc.Arbitrary<Message> = fc.oneof(
    fc.constantFrom(...written('u s a a:r,x a:1 t:1 a:<2 a:<3,>3 a:r,<4,>4,x a:e u')),
    // Compiled messages have no result before its call.
    assistantContents.map((parts) => assistantMessage(parts.filter(({ type }) => type !== 'tool-result'))),
    fc.string({ unit: codePoint, maxLength: 3 }).map((text) => userMessage(text)),
  );
  const anyTagged = fc
    .tuple(anyMessage, fc.boolean())
    .map(([message, isCurrent]) => (isCurrent ? withTags(message, tags) : message));
  const anyForm = fc.record({
    takesFirstAnswer: fc.boolean(),
    takesLastAnswer: fc.boolean(),
    takesUserMessagesInARow: fc.boolean(),
    takesUserMessageAfterResults: fc.boolean(),
    takesLaterSystemMessages: fc.boolean(),
    takesBlankTexts: fc.boolean(),
    takesSingleCalls: fc.boolean(),
    ownCallsNeedReasoning: fc.boolean(),
    ownCallIds: fc.constantFrom('', '(?!)'),
  });
  const turn = fc.record({
    cut: fc.nat(6),
    added: fc.array(anyTagged, { maxLength: 4 }),
    isNext: fc.boolean(),
    model: fc.constantFrom('a', 'b'),
  });
  const growth = fc.array(turn, { maxLength: 6 });
  fc.assert(
    fc.property(anyForm, growth, (demands, turns) => {
      let messages: Messages = List.empty();
      for (const { cut, added, isNext, model } of turns) {
        const state = isNext ? AgentState.empty().withExecutionStarted(0) : running;
        const sending = { form: formWith(demands), state, model };
        // A compiler may replace the last messages.
        const kept = cut === 0 ? messages.slice(0, -1) : undefined;
        messages = (kept ? List.from(kept) : messages).concat(added);
        const fresh = sentMessages(requestOf(messages), sending).flatMap(({ sent: one }) => one ?? []);
        const request = sendableRequest(requestOf(messages), sending);
        const again = sendableRequest(requestOf(List.from(messages.slice())), sending);
        const continued = request.request.messages.toArray();
        expect(continued).toEqual(again.request.messages.toArray());
        expect(fingerprintOf(request)).toBe(fingerprintOf(again));
        expect(demands.takesUserMessagesInARow ? continued : []).toEqual(
          demands.takesUserMessagesInARow ? fresh : [],
        );
      }
    }),
    cases(300),
  );
});
