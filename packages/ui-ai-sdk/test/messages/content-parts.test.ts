import { AgentState, assistantMessage, type Message } from '@holdfast/core';
import { toolMessage, type AssistantPart, type ToolOutput } from '@holdfast/core/driver';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { validateUIMessages, type UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';

function withConversation(...messages: readonly Message[]): AgentState {
  return AgentState.empty().withMessages(messages);
}

function partsOf(content: readonly AssistantPart[], options = {}): UIMessage['parts'] {
  const [message] = toUIMessages(withConversation(assistantMessage(content)), options);
  return message?.parts ?? [];
}

describe('the parts of an assistant message', () => {
  const provider = { openai: { itemId: 'i1' } };

  test.each<[string, AssistantPart, object]>([
    ['text', { type: 'text', text: 'Hi' }, { type: 'text', text: 'Hi', state: 'done' }],
    [
      'reasoning',
      { type: 'reasoning', text: 'So' },
      { type: 'reasoning', id: '1', text: 'So', state: 'done' },
    ],
    [
      'a file',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' }, filename: 'a.png' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
    ],
    [
      'a file as text',
      { type: 'file', mediaType: 'text/csv', data: { type: 'text', text: 'a,b\ud800' } },
      { type: 'file', mediaType: 'text/csv', url: 'data:text/csv,a%2Cb%EF%BF%BD' },
    ],
    [
      'a file that only its provider has',
      { type: 'file', mediaType: 'image/png', data: { type: 'reference', reference: { openai: 'f1' } } },
      { type: 'file', mediaType: 'image/png', url: '' },
    ],
    [
      'a reasoning file',
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'url', url: 'https://x.example/a' } },
      { type: 'reasoning-file', mediaType: 'image/png', url: 'https://x.example/a' },
    ],
    [
      'a web source',
      { type: 'source', source: { sourceType: 'url', id: 's1', url: 'https://x.example', title: 'X' } },
      { type: 'source-url', sourceId: 's1', url: 'https://x.example', title: 'X' },
    ],
    [
      'a document source',
      {
        type: 'source',
        source: { sourceType: 'document', id: 's2', mediaType: 'text/plain', title: 'Y', filename: 'y' },
      },
      { type: 'source-document', sourceId: 's2', mediaType: 'text/plain', title: 'Y', filename: 'y' },
    ],
    [
      'a custom part',
      { type: 'custom', kind: 'openai.item', providerOptions: provider },
      { type: 'custom', kind: 'openai.item', providerMetadata: provider },
    ],
    [
      'a custom part without a provider',
      { type: 'custom', kind: 'item' },
      { type: 'custom', kind: 'custom.item' },
    ],
  ])('%s', async (_, part, shown) => {
    const parts = partsOf([part]);
    expect(parts).toEqual([{ type: 'step-start' }, shown]);
    const message: UIMessage = { id: 'm', role: 'assistant', parts };
    await expect(validateUIMessages({ messages: [message] })).resolves.toEqual([message]);
  });

  test('an empty text is omitted, and a message with nothing else', () => {
    const empty: AssistantPart[] = [
      { type: 'text', text: '' },
      { type: 'reasoning', text: '' },
    ];
    expect(partsOf([...empty, { type: 'text', text: 'Hi' }])).toHaveLength(2);
    expect(partsOf(empty)).toEqual([]);
  });

  test('the data of providers is omitted unless it is wanted', () => {
    const part: AssistantPart = { type: 'text', text: 'Hi', providerOptions: { ...provider, odd: 1 } };
    expect(partsOf([part])[1]).not.toHaveProperty('providerMetadata');
    expect(partsOf([part], { hasProviderMetadata: true })[1]).toMatchObject({ providerMetadata: provider });
  });
});

describe('a call that has its result', () => {
  const call: AssistantPart = { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1 } };

  function resultPart(output: ToolOutput, options = {}): UIMessage['parts'][number] | undefined {
    const result = toolMessage([{ type: 'tool-result', toolCallId: 'c1', toolName: 'add', output }], {
      id: 'm2',
    });
    return toUIMessages(withConversation(assistantMessage([call]), result), options)[0]?.parts[1];
  }

  const shown = { type: 'tool-add', toolCallId: 'c1', input: { a: 1 } };

  test.each<[ToolOutput, object]>([
    [
      { type: 'text', value: 'one' },
      { state: 'output-available', output: 'one' },
    ],
    [
      { type: 'json', value: [1] },
      { state: 'output-available', output: [1] },
    ],
    [
      { type: 'error-text', value: 'no' },
      { state: 'output-error', errorText: 'no' },
    ],
    [
      { type: 'error-json', value: { no: 1 } },
      { state: 'output-error', errorText: '{"no":1}' },
    ],
    [
      { type: 'execution-denied', reason: 'Too much.' },
      { state: 'output-denied', approval: { id: 'm2:c1', approved: false, reason: 'Too much.' } },
    ],
    [{ type: 'execution-denied' }, { state: 'output-denied', approval: { id: 'm2:c1', approved: false } }],
    [
      { type: 'content', value: [{ type: 'text', text: 'one' }] },
      { state: 'output-available', output: [{ type: 'text', text: 'one' }] },
    ],
  ])('%j', (output, state) => {
    expect(resultPart(output)).toEqual({ ...shown, ...state });
  });

  test('is a dynamic tool if the options say so', () => {
    const isDynamicTool = (name: string): boolean => name === 'add';
    const { type: _, ...rest } = shown;
    expect(resultPart({ type: 'text', value: 'one' }, { isDynamicTool })).toEqual({
      type: 'dynamic-tool',
      toolName: 'add',
      ...rest,
      state: 'output-available',
      output: 'one',
    });
  });

  test('has an error when its result is missing', () => {
    expect(partsOf([call])[1]).toEqual({
      ...shown,
      state: 'output-error',
      errorText: 'No result was recorded.',
    });
  });

  test('that the provider ran has its result in the same part, also when it comes a message later', () => {
    const search: AssistantPart = { ...call, toolName: 'web', providerExecuted: true };
    const found: AssistantPart = {
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'web',
      output: { type: 'json', value: ['x'] },
    };
    const waiting = { ...shown, type: 'tool-web', providerExecuted: true, state: 'input-available' };
    const done = { ...waiting, state: 'output-available', output: ['x'] };
    expect(partsOf([search])[1]).toEqual(waiting);
    expect(partsOf([search, found])[1]).toEqual(done);
    expect(partsOf([found])[1]).toEqual({ ...done, input: undefined });
  });
});
