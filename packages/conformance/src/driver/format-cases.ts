import assert from 'node:assert/strict';
import { both, unheard, type UngroupedDriverCase } from './driver-case.ts';
import { ADD, answer, NUMBERS, requestOf, respond, sentBy } from './driver-calls.ts';

const FORMAT = { type: 'json', schema: NUMBERS, name: 'numbers' } as const;

/** Requirements on structured output. */
export const formatCases: readonly UngroupedDriverCase[] = [
  unheard('the schema of the response format is sent', ['schemas'], async (context) => {
    const sent = await sentBy(context, requestOf('where', { responseFormat: FORMAT }));
    assert.deepEqual(sent.responseFormat?.schema, NUMBERS);
  }),
  unheard('the name of the response format is sent', ['formatNames'], async (context) => {
    const sent = await sentBy(context, requestOf('where', { responseFormat: FORMAT }));
    assert.equal(sent.responseFormat?.name, 'numbers');
  }),
  unheard('a response format without a schema asks for JSON', [], async (context) => {
    const sent = await sentBy(context, requestOf('where', { responseFormat: { type: 'json' } }));
    assert(sent.responseFormat, 'The provider must be asked for JSON.');
    assert.equal(sent.responseFormat.schema, undefined);
  }),
  unheard('the response format of text asks for nothing', [], async (context) => {
    const sent = await sentBy(context, requestOf('where', { responseFormat: { type: 'text' } }));
    assert.equal(sent.responseFormat, undefined);
  }),
  unheard('a response format and tools are sent together', ['schemas'], async (context) => {
    const sent = await sentBy(context, requestOf('where', { responseFormat: FORMAT, tools: [ADD] }));
    assert.deepEqual(sent.responseFormat?.schema, NUMBERS);
    assert.deepEqual(sent.tools, [ADD]);
  }),
  ...both('a response in a format is returned as its JSON text', [], async (context) => {
    const request = requestOf('where', { responseFormat: FORMAT });
    const { response } = await respond(context, answer({ text: '{"a":1,"b":2}' }), request);
    assert.deepEqual(JSON.parse(response.text), { a: 1, b: 2 });
    assert.equal(response.finishReason, 'stop');
  }),
];
