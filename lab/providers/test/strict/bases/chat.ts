import type { Members } from '../../../src/strict/view.ts';
import { ended, IDS, PDF, PNG, SCHEMA, SIGN, USER, type Base } from './base.ts';

export const chat: Base = (options, dialects) => {
  const has = (...names: readonly string[]) => names.some((name) => dialects.includes(name));
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } };
  const hasFile = has('openai-chat') && !has('azure-chat');
  const content = has('deepseek')
    ? USER
    : [{ type: 'text', text: USER }, picture, ...(hasFile ? [file] : [])];
  const reasoning =
    has('deepseek', 'moonshot') && !options.model.includes('r1') ? { reasoning_content: 'Hm.' } : {};
  const detail = { type: 'reasoning.text', text: 'Hm.', signature: SIGN };
  const details = has('openrouter') ? { reasoning_details: [detail] } : {};
  const isOld = options.model.startsWith('o1');
  return {
    model: options.model,
    ...(options.hasTools && { tools: [chatTool(), chatTool('other')] }),
    messages: ended<Members>(options, {
      start: [
        { role: isOld ? 'developer' : 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
      calls: [
        {
          role: 'assistant',
          content: 'I look.',
          ...reasoning,
          ...details,
          tool_calls: IDS.map((id) => chatCall(id)),
        },
        ...IDS.map((id) => ({ role: 'tool', tool_call_id: id, content: 'rain' })),
      ],
      answer: { role: 'assistant', content: 'It rains.', ...reasoning },
      user: { role: 'user', content: 'And now?' },
    }),
  };
};

function chatTool(name = 'weather'): Members {
  return { type: 'function', function: { name, description: 'd', parameters: SCHEMA, strict: true } };
}

function chatCall(id: string, args: unknown = '{"city":"A"}'): Members {
  return { id, type: 'function', function: { name: 'weather', arguments: args } };
}

export const ollama: Base = (options) => ({
  model: options.model,
  ...(options.hasTools && { tools: [chatTool(), chatTool('other')] }),
  messages: ended<Members>(options, {
    start: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: USER, images: [PNG] },
    ],
    calls: [
      { role: 'assistant', content: '', tool_calls: IDS.map((id) => chatCall(id, { city: 'A' })) },
      ...IDS.map((id) => ({ role: 'tool', tool_call_id: id, content: 'rain' })),
    ],
    answer: { role: 'assistant', content: 'It rains.' },
    user: { role: 'user', content: 'And now?' },
  }),
});

export const cohere: Base = (options) => ({
  model: options.model,
  ...(options.hasTools && { tools: [chatTool(), chatTool('other')] }),
  messages: ended<Members>(options, {
    start: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: USER },
    ],
    calls: [
      { role: 'assistant', tool_calls: IDS.map((id) => chatCall(id)) },
      ...IDS.map((id) => ({ role: 'tool', tool_call_id: id, content: 'rain' })),
    ],
    answer: { role: 'assistant', content: 'It rains.' },
    user: { role: 'user', content: 'And now?' },
  }),
});
