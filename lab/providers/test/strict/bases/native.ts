import type { Members } from '../../../src/strict/view.ts';
import { ended, IDS, PDF, PNG, SCHEMA, SIGN, USER, type Base } from './base.ts';

function text(value: string): Members {
  return { type: 'text', text: value };
}

function source(mediaType: string, data: string): Members {
  return { type: 'base64', media_type: mediaType, data };
}

export const messages: Base = (options) => {
  const thinks = options.thinking !== 'off';
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: SIGN };
  const tool = (name: string) => ({ name, description: 'd', input_schema: SCHEMA });
  return {
    model: options.model,
    ...(thinks && { thinking: { type: options.thinking, budget_tokens: 1024 } }),
    system: [text('Be brief.')],
    ...(options.hasTools && { tools: [tool('weather'), tool('other')] }),
    messages: ended<Members>(options, {
      start: [
        {
          role: 'user',
          content: [
            text(USER),
            { type: 'image', source: source('image/png', PNG) },
            { type: 'document', title: 'a', source: source('application/pdf', PDF) },
          ],
        },
      ],
      calls: [
        {
          role: 'assistant',
          content: [
            thinking,
            { type: 'redacted_thinking', data: SIGN },
            text('I look.'),
            ...IDS.map((id) => ({ type: 'tool_use', id, name: 'weather', input: { city: 'A' } })),
          ],
        },
        {
          role: 'user',
          content: IDS.map((id) => ({ type: 'tool_result', tool_use_id: id, content: [text('rain')] })),
        },
      ],
      answer: { role: 'assistant', content: [...(thinks ? [thinking] : []), text('It rains.')] },
      user: { role: 'user', content: [text('And now?')] },
    }),
  };
};

export const google: Base = (options) => {
  const id = (value: string) => (/gemini-[3-9]/.test(options.model) ? { id: value } : {});
  const { additionalProperties: _, ...parameters } = SCHEMA;
  const tool = (name: string) => ({ name, description: 'd', parameters });
  const signature = { thoughtSignature: SIGN };
  return {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    ...(options.hasTools && { tools: [{ functionDeclarations: [tool('weather'), tool('other')] }] }),
    contents: ended<Members>(options, {
      start: [
        { role: 'user', parts: [{ text: USER }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
      ],
      calls: [
        {
          role: 'model',
          parts: [
            { text: 'I look.', ...signature },
            ...IDS.map((value, index) => ({
              functionCall: { ...id(value), name: 'weather', args: { city: 'A' } },
              ...(index === 0 && signature),
            })),
          ],
        },
        {
          role: 'user',
          parts: IDS.map((value) => ({
            functionResponse: { ...id(value), name: 'weather', response: { result: 'rain' } },
          })),
        },
      ],
      answer: { role: 'model', parts: [{ text: 'It rains.' }] },
      user: { role: 'user', parts: [{ text: 'And now?' }] },
    }),
  };
};

export const converse: Base = (options) => {
  const signs = options.model.includes('claude');
  const thinking = { reasoningContent: { reasoningText: { text: 'Hm.', signature: SIGN } } };
  const redacted = { reasoningContent: { redactedContent: SIGN } };
  const tool = (name: string) => ({ toolSpec: { name, description: 'd', inputSchema: { json: SCHEMA } } });
  return {
    system: [{ text: 'Be brief.' }],
    ...(options.thinking !== 'off' && {
      additionalModelRequestFields: { thinking: { type: options.thinking } },
    }),
    ...(options.hasTools && { toolConfig: { tools: [tool('weather'), tool('other')] } }),
    messages: ended<Members>(options, {
      start: [
        {
          role: 'user',
          content: [
            { text: USER },
            { image: { format: 'png', source: { bytes: PNG } } },
            { document: { format: 'pdf', name: 'a', source: { bytes: PDF } } },
          ],
        },
      ],
      calls: [
        {
          role: 'assistant',
          content: [
            ...(signs ? [thinking, redacted] : []),
            { text: 'I look.' },
            ...IDS.map((id) => ({ toolUse: { toolUseId: id, name: 'weather', input: { city: 'A' } } })),
          ],
        },
        {
          role: 'user',
          content: IDS.map((id) => ({ toolResult: { toolUseId: id, content: [{ text: 'rain' }] } })),
        },
      ],
      answer: { role: 'assistant', content: [{ text: 'It rains.' }] },
      user: { role: 'user', content: [{ text: 'And now?' }] },
    }),
  };
};

export const gateway: Base = (options) => {
  const tool = (name: string) => ({ type: 'function', name, description: 'd', inputSchema: SCHEMA });
  const providerOptions = { anthropic: { signature: SIGN } };
  return {
    ...(options.hasTools && { tools: [tool('weather'), tool('other')] }),
    prompt: ended<Members>(options, {
      start: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: USER }] },
      ],
      calls: [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.', providerOptions },
            ...IDS.map((toolCallId) => ({
              type: 'tool-call',
              toolCallId,
              toolName: 'weather',
              input: { city: 'A' },
            })),
          ],
        },
        {
          role: 'tool',
          content: IDS.map((toolCallId) => ({
            type: 'tool-result',
            toolCallId,
            toolName: 'weather',
            output: { type: 'text', value: 'rain' },
          })),
        },
      ],
      answer: { role: 'assistant', content: [{ type: 'text', text: 'It rains.' }] },
      user: { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    }),
  };
};
