import { describe, expect, it } from 'vitest';
import { rulesFor, strictServers } from '../../src/strict/index.ts';
import { Issuer } from '../../src/strict/issuer.ts';
import { refusalsOf } from '../../src/strict/refusal.ts';

/** Values where messages, contents and parts are due. */
const ODD: readonly unknown[] = [
  null,
  5,
  'text',
  [],
  [null],
  [5, 'a'],
  [{}],
  [{ role: 5, content: null, parts: null }],
  [{ role: 'assistant', content: [null, 5, {}], parts: [null, {}], tool_calls: [null, {}, { function: 5 }] }],
  [{ role: 'tool', content: {}, tool_call_id: 5 }],
  [{ role: 'user', content: [{ type: 'image' }, { type: 'file' }, { image: {} }, { toolResult: {} }] }],
  [{ type: 'reasoning' }, { type: 'function_call' }, { type: 'function_call_output', output: 5 }],
];

const bodies = [
  null,
  [],
  'text',
  ...ODD.flatMap((value) => [
    { messages: value, input: value, contents: value, prompt: value },
    { messages: [{ role: 'user', content: value, parts: value }], input: value, system: value, tools: value },
  ]),
];

const profiles = strictServers().map((profile) => ({ name: profile.name, profile }));

describe('odd bodies', () => {
  it.each(profiles)('$name judges each of them', ({ profile: { wire, dialects } }) => {
    const judged = bodies.map((body) => {
      const request = { method: 'POST', path: '/', headers: {}, body };
      const view = wire.read(request, true);
      return refusalsOf(rulesFor(dialects), view, { issuer: new Issuer() }, wire.paths);
    });
    expect(judged).toHaveLength(bodies.length);
  });
});
