import assert from 'node:assert/strict';
import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  hasErrorCode,
  tool,
  userMessage,
} from '@holdfast/core';
import { toolMessage } from '@holdfast/core/driver';
import type { JsonObject } from '@holdfast/core';
import type { InferenceDelta, InferenceResponse, ToolDescription } from '@holdfast/core/driver';
import type { DriverCase } from './driver-case.ts';
import { answer, inferred, requestOf, USAGE } from './driver-case.ts';

const NUMBERS: JsonObject = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const ADD: ToolDescription = { name: 'add', description: 'Adds two numbers.', inputSchema: NUMBERS };
const SUBTRACT: ToolDescription = { ...ADD, name: 'subtract', description: 'Subtracts two numbers.' };

const SUMS = [
  { id: 'call_b', name: 'add', input: { a: 1, b: 2 } },
  { id: 'call_a', name: 'subtract', input: { a: 30, b: 40 } },
];
const TEXT = 'Hello to you, and to your team: 21 °C, 🦊.';

const textOf = (deltas: readonly InferenceDelta[], type: InferenceDelta['type'], id?: string): string =>
  deltas
    .flatMap((delta) => (delta.type === type && (id ?? delta.id) === delta.id ? [delta.text] : []))
    .join('');

function assertUsage({ usage }: InferenceResponse): void {
  assert.deepEqual([usage.inputTokens, usage.outputTokens], [USAGE.inputTokens, USAGE.outputTokens]);
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('Enough.')) };
}

/** Requirements on a response, with and without a listener for deltas. */
const answers: readonly DriverCase[] = [true, false].flatMap((isHeard): DriverCase[] => {
  const how = isHeard ? 'with a listener' : 'without a listener';
  return [
    {
      name: `a final response is returned with its usage, ${how}`,
      async run(createDriver) {
        const { driver } = await createDriver([answer({ text: TEXT })]);
        const { response, deltas } = await inferred(driver, requestOf([userMessage('hello')]), { isHeard });
        assert.equal(response.text, TEXT);
        assert.equal(response.finishReason, 'stop');
        assert.deepEqual(response.toolCalls, []);
        assertUsage(response);
        assert.equal(textOf(deltas, 'text'), isHeard ? TEXT : '');
      },
    },
    {
      name: `tool calls are returned in order, ${how}`,
      async run(createDriver) {
        const { driver } = await createDriver([answer({ text: 'Let me see.', calls: SUMS })]);
        const request = requestOf([userMessage('sums')], { tools: [ADD, SUBTRACT] });
        const { response, deltas } = await inferred(driver, request, { isHeard });
        assert.equal(response.text, 'Let me see.');
        assert.equal(response.finishReason, 'tool-calls');
        const calls = response.toolCalls.map(({ toolCallId: id, toolName: name, input }) => ({
          id,
          name,
          input,
        }));
        assert.deepEqual(calls, SUMS);
        assertUsage(response);
        for (const { id, input } of SUMS) {
          const heard = textOf(deltas, 'tool-input', id);
          if (heard !== '') assert.deepEqual(JSON.parse(heard), input);
        }
      },
    },
    {
      name: `a truncated response has the finish reason "length", ${how}`,
      async run(createDriver) {
        const { driver } = await createDriver([answer({ text: 'Once upon', finishReason: 'length' })]);
        const { response } = await inferred(driver, requestOf([userMessage('a tale')]), { isHeard });
        assert.deepEqual([response.finishReason, response.text], ['length', 'Once upon']);
      },
    },
    {
      name: `a call with a refused key throws DRIVER_AUTHENTICATION, ${how}`,
      async run(createDriver) {
        const { driver, requests } = await createDriver([{ type: 'refusal' }, answer({ text: 'too late' })]);
        await assert.rejects(inferred(driver, requestOf([userMessage('hello')]), { isHeard }), (error) => {
          assert(hasErrorCode(error, 'DRIVER_AUTHENTICATION'), String(error));
          return true;
        });
        assert.equal(requests().length, 1, 'The driver must not retry a refused call.');
      },
    },
    {
      name: `an abort ends a running call, ${how}`,
      async run(createDriver) {
        const asked = Promise.withResolvers<void>();
        const { driver } = await createDriver([{ type: 'silence', onAsked: asked.resolve }]);
        const { signal, abort } = abortable();
        const pending = inferred(driver, requestOf([userMessage('hello')]), { isHeard, signal });
        await Promise.race([asked.promise, pending]);
        abort();
        const [result] = await Promise.allSettled([pending]);
        if (result?.status === 'fulfilled') assert.equal(result.value.response.finishReason, 'aborted');
      },
    },
  ];
});

const HISTORY = [
  userMessage('sums'),
  assistantMessage([
    { type: 'text', text: 'Let me see.' },
    ...SUMS.map(({ id: toolCallId, name: toolName, input }) => {
      return { type: 'tool-call', toolCallId, toolName, input } as const;
    }),
  ]),
  toolMessage([
    { type: 'tool-result', toolCallId: 'call_b', toolName: 'add', output: { type: 'json', value: 3 } },
    {
      type: 'tool-result',
      toolCallId: 'call_a',
      toolName: 'subtract',
      output: { type: 'text', value: 'No.' },
    },
  ]),
  assistantMessage('It is 3.'),
  userMessage('thanks'),
];

const requests: readonly DriverCase[] = [
  {
    name: 'calls and results of the conversation are sent in order',
    async run(createDriver) {
      const { driver, requests: asked } = await createDriver([answer({ text: 'You are welcome.' })]);
      const request = requestOf(HISTORY, { systemPrompt: 'Be brief.', tools: [ADD, SUBTRACT] });
      await inferred(driver, request, { isHeard: false });
      assert.deepEqual(asked()[0]?.said, [
        'system Be brief.',
        'user sums',
        'assistant Let me see.',
        'call call_b add',
        'call call_a subtract',
        'result call_b 3',
        'result call_a No.',
        'assistant It is 3.',
        'user thanks',
      ]);
      assert.deepEqual(asked()[0]?.tools, ['add', 'subtract']);
    },
  },
  {
    name: 'the schema of the response format is sent',
    async run(createDriver) {
      const text = '{"a":1,"b":2}';
      const { driver, requests: asked } = await createDriver([answer({ text })]);
      const request = requestOf([userMessage('where')], {
        responseFormat: { type: 'json', schema: NUMBERS, name: 'numbers' },
      });
      const { response } = await inferred(driver, request, { isHeard: false });
      assert.deepEqual(JSON.parse(response.text), { a: 1, b: 2 });
      assert.deepEqual(asked()[0]?.schema, NUMBERS);
    },
  },
  {
    name: 'a driver stores nothing between calls',
    async run(createDriver) {
      const { driver, requests: asked } = await createDriver([
        answer({ text: 'one' }),
        answer({ text: 'two' }),
      ]);
      const before = JSON.stringify(HISTORY);
      for (const text of ['one', 'two']) {
        const { response } = await inferred(driver, requestOf([userMessage(text)]), { isHeard: true });
        assert.equal(response.text, text);
      }
      assert.deepEqual(
        asked().map(({ said }) => said),
        [['user one'], ['user two']],
      );
      assert.equal(JSON.stringify(HISTORY), before);
    },
  },
  {
    name: 'an agent calls a tool and responds with its result',
    async run(createDriver) {
      const [sum] = SUMS;
      assert(sum);
      const { driver, requests: asked } = await createDriver([
        answer({ calls: [sum] }),
        answer({ text: 'It is 3.' }),
      ]);
      const adding = tool({ ...ADD, execute: () => 3 });
      const loop = createAgentLoop({ driver, tools: [adding] });
      const end = await loop.run(AgentState.empty().withUserMessage('one sum'));
      assert.deepEqual([end.status, end.finalResponse, end.stepCount], ['completed', 'It is 3.', 2]);
      assert.equal(end.usage.inputTokens, 2 * USAGE.inputTokens);
      assert.deepEqual(asked()[1]?.said, ['user one sum', 'call call_b add', 'result call_b 3']);
    },
  },
];

/** The requirements on every driver, for any provider. The cases are plain data, which any test runner can run. */
export const driverCases: readonly DriverCase[] = [...answers, ...requests];
