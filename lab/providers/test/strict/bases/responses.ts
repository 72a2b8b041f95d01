import type { Members } from '../../../src/strict/view.ts';
import { ended, IDS, PNG, SCHEMA, SIGN, USER, type Base } from './base.ts';

function call(id: string, item: string): Members {
  return { type: 'function_call', id: item, call_id: id, name: 'weather', arguments: '{"city":"A"}' };
}

function output(id: string): Members {
  return { type: 'function_call_output', call_id: id, output: 'rain' };
}

function tool(name: string): Members {
  return { type: 'function', name, description: 'd', parameters: SCHEMA, strict: true };
}

export const responses: Base = (options, _, issuer) => {
  issuer.remember([
    { id: 'rs_1', type: 'reasoning' },
    { id: 'fc_1', type: 'function_call' },
    { id: 'fc_2', type: 'function_call' },
  ]);
  issuer.remember([{ id: 'msg_1', type: 'message' }]);
  const [first, second] = IDS;
  const summary = [{ type: 'summary_text', text: 'Hm.' }];
  const reasoning = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: SIGN };
  const calls = [reasoning, call(first, 'fc_1'), call(second, 'fc_2'), output(first), output(second)];
  const apart = [reasoning, call(first, 'fc_1'), output(first), call(second, 'fc_2'), output(second)];
  return {
    model: options.model,
    store: true,
    ...(options.hasTools && { tools: [tool('weather'), tool('other')] }),
    input: ended<Members>(options, {
      start: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: USER },
            { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
          ],
        },
      ],
      calls: options.model.startsWith('deepseek') ? apart : calls,
      answer: { role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'It rains.' }] },
      user: { role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
    }),
  };
};
