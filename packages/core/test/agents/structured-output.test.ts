import {
  AgentState,
  AgentStop,
  createAgentLoop,
  finishReason,
  RunAbort,
  structuredOutput,
  textOf,
  type Hook,
  type JsonValue,
  type Message,
} from '@holdfast/core';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { does, observe, readBack, told } from '../support/builders.ts';

const weather = z.object({ city: z.string(), celsius: z.number() });
const fits = '{"city":"Ulm","celsius":21}';
const misfit = '{"city":"Ulm","celsius":"warm"}';
const issue = 'celsius: Invalid input: expected number, received string';
const invalid = (...issues: string[]) =>
  expect.objectContaining({ code: 'OUTPUT_INVALID', data: { issues } });
const said = (messages: Iterable<Message>): string[] => [...messages].map((message) => textOf(message));

describe('a response that fits the schema', () => {
  test('is read, without a second inference', async () => {
    const output = structuredOutput(weather, { name: 'weather', description: 'How it is there.' });
    const { state, driver } = await observe({ script: [fits], hooks: [output] });
    expect(state.status).toBe('completed');
    expect(driver.requests.map(({ responseFormat }) => responseFormat)).toEqual([
      {
        type: 'json',
        name: 'weather',
        description: 'How it is there.',
        schema: expect.objectContaining({ type: 'object', required: ['city', 'celsius'] }),
      },
    ]);
    expectTypeOf(output.read(state)).toEqualTypeOf<{ city: string; celsius: number }>();
    expect(output.read(state)).toEqual({ city: 'Ulm', celsius: 21 });
    expect(output.read(readBack(state))).toEqual({ city: 'Ulm', celsius: 21 });
  });

  test('may follow tool calls', async () => {
    const output = structuredOutput({ type: 'array', items: { type: 'number' } });
    const script: ScriptedAnswer[] = [{ calls: { add: {} } }, '[4]'];
    const { state, driver } = await observe({ script, tools: [does('add')], hooks: [output] });
    driver.assertComplete();
    expectTypeOf(output.read(state)).toEqualTypeOf<JsonValue>();
    expect(output.read(state)).toEqual([4]);
  });

  test('may be transformed; the state stores the text of the model', async () => {
    const output = structuredOutput(z.object({ day: z.iso.date().transform((day) => new Date(day)) }));
    const { state } = await observe({ script: ['{"day":"2026-01-02"}'], hooks: [output] });
    expect(output.read(readBack(state)).day).toEqual(new Date('2026-01-02'));
    expect(state.finalResponse).toBe('{"day":"2026-01-02"}');
  });

  test('may be checked asynchronously, and is then read with readAsync()', async () => {
    const output = structuredOutput(z.string().refine(async (text) => text === 'yes', 'not yes'));
    const { state, driver } = await observe({ script: ['"no"', '"yes"'], hooks: [output] });
    driver.assertComplete();
    expect(await output.readAsync(state)).toBe('yes');
    expect(() => output.read(state)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });

  test('leaves no response format in the state, so another loop gets plain responses', async () => {
    const { state } = await observe({ script: [fits], hooks: [structuredOutput(weather)] });
    expect(state.responseFormat).toBeUndefined();
    const { driver } = await observe({ state: state.withUserMessage('And now?'), script: ['Fine.'] });
    expect(driver.requests[0]?.responseFormat).toBeUndefined();
  });
});

describe('text that is parsed as JSON', () => {
  const answered = async (text: string) => {
    const output = structuredOutput({}, { maxRepairs: 0 });
    const { state } = await observe({ script: [{ text }], hooks: [output] });
    return { state, output };
  };

  const json: readonly (readonly [name: string, text: string, value: unknown])[] = [
    ['JSON', '{"a":1}', { a: 1 }],
    ['with space around it', '\n {"a":1} \n', { a: 1 }],
    ['in a fence', '```\n{"a":1}\n```', { a: 1 }],
    ['in a fence that names the language', '```json\r\n{"a":1}\r\n```\n', { a: 1 }],
    ['with a fence inside a text', '```json\n"```"\n```', '```'],
  ];
  test.each(json)('%s', async (_, text, value) => {
    const { state, output } = await answered(text);
    expect(output.read(state)).toEqual(value);
  });

  const other: readonly (readonly [name: string, text: string])[] = [
    ['words before it', 'Here it is: {"a":1}'],
    ['words before a fence', 'Here:\n```json\n{"a":1}\n```'],
    ['a fence that does not end', '```json\n{"a":1}'],
    ['a comma too many', '{"a":1,}'],
  ];
  test.each(other)('invalid: %s', async (_, text) => {
    const { state } = await answered(text);
    expect(state.status).toBe('failed');
    expect(state.errors[0]?.message).toMatch(/^The response does not fit .*: the response: not JSON: /);
  });

  test('a whole number that would be rounded does not fit, and the model reads which', async () => {
    const { state } = await answered('{"a":12345678901234567890}');
    expect(state.errors[0]?.message).toContain('the whole number 12345678901234567890 has too many digits');
  });
});

/** A text part with the phase that OpenAI's package reports. */
const phased = (text: string, phase: string) =>
  ({ type: 'text', text, providerOptions: { openai: { phase, itemId: `msg_${phase}` } } }) as const;

test.each([
  ['a comment before the answer', [phased('Let me see.', 'commentary'), phased(fits, 'final_answer')]],
  ['a draft before the answer', [phased(misfit, 'commentary'), phased(fits, 'final_answer')]],
  ['a comment after it', [phased(fits, 'final_answer'), phased('Done.', 'commentary')]],
  [
    'an answer in two parts',
    [phased(fits.slice(0, 9), 'final_answer'), phased(fits.slice(9), 'final_answer')],
  ],
])('the value is that of the final answer: %s', async (_, content) => {
  const output = structuredOutput(weather, { maxRepairs: 0 });
  const { state } = await observe({ script: [{ content }], hooks: [output] });
  expect(output.read(readBack(state))).toEqual({ city: 'Ulm', celsius: 21 });
});

test('an empty final answer is not replaced by a comment', async () => {
  const output = structuredOutput(weather, { maxRepairs: 0 });
  const content = [phased(fits, 'commentary'), phased('', 'final_answer')];
  const { state } = await observe({ script: [{ content }], hooks: [output] });
  expect(() => output.read(state)).toThrow('it is empty');
});

test('an output of the AI SDK is refused', () => {
  const output = {
    name: 'object',
    responseFormat: Promise.resolve({}),
    parseCompleteOutput: () => undefined,
  };
  expect(() => structuredOutput(output as never)).toThrow(
    expect.objectContaining({
      code: 'OUTPUT_SCHEMA_INVALID',
      message: expect.stringContaining('found an object with a function "parseCompleteOutput"') as string,
    }),
  );
});

describe('a response that does not fit the schema', () => {
  test('is followed by one repair request that lists the problems', async () => {
    const output = structuredOutput(weather);
    const { state, driver } = await observe({ script: [misfit, fits], hooks: [output] });
    expect(state.status).toBe('completed');
    expect(output.read(state).celsius).toBe(21);
    expect(said(driver.requests[1]?.messages ?? [])).toEqual([
      'Go',
      misfit,
      'Your response does not fit the required schema:\n' +
        `- ${issue}\n` +
        'Respond again with the whole corrected JSON value and nothing else.',
    ]);
    expect(state.stepCount).toBe(2);
    expect(state.usage.toJSON()).toMatchObject({ inputTokens: 20, outputTokens: 10 });
  });

  test('lists every problem that the schema finds', async () => {
    const output = structuredOutput(weather, { maxRepairs: 0 });
    const { state } = await observe({ script: ['{"celsius":"warm"}'], hooks: [output] });
    const city = 'city: Invalid input: expected string, received undefined';
    expect(state.errors).toEqual([invalid(city, issue)]);
    expect(() => output.read(readBack(state))).toThrow(invalid(city, issue));
  });

  test('ends the execution failed when the repairs are exhausted', async () => {
    const script = ['Warm.', misfit, '{}', fits];
    const output = structuredOutput(weather, { maxRepairs: 2 });
    const { state, driver } = await observe({ script, hooks: [output] });
    expect(driver.requests).toHaveLength(3);
    expect(state.status).toBe('failed');
    expect(state.errors.map(({ code }) => code)).toEqual(['OUTPUT_INVALID']);
    expect(state.finalResponse).toBeUndefined();
    expect(() => output.read(state)).toThrow(state.errors[0]?.message);
  });

  test('has new repairs in the next execution', async () => {
    const output = structuredOutput(weather);
    const first = await observe({ script: [misfit, misfit], hooks: [output] });
    const state = first.state.withUserMessage('Again');
    const second = await observe({ state, script: [misfit, fits], hooks: [output] });
    expect(output.read(second.state).celsius).toBe(21);
  });

  test('is found by a JSON Schema too', async () => {
    const output = structuredOutput({ type: 'object', required: ['a'] }, { maxRepairs: 0 });
    expect((await observe({ script: ['{}'], hooks: [output] })).state.errors).toEqual([
      invalid('a: required, but missing'),
    ]);
    expect((await observe({ script: ['7'], hooks: [output] })).state.errors).toEqual([
      invalid('the response: expected object, found number 7'),
    ]);
  });

  test('states that it was truncated', async () => {
    const output = structuredOutput(weather, { maxRepairs: 0 });
    const script: ScriptedAnswer[] = [{ text: '{"city":', finishReason: 'length' }];
    const { state } = await observe({ script, hooks: [output] });
    expect(state.errors[0]?.message).toContain('truncated at the limit of output tokens');
  });
});

describe('repairs and other reasons to stop or continue', () => {
  test('a repair counts as a step, within the step limit', async () => {
    const output = structuredOutput(weather, { maxRepairs: 5 });
    const { state } = await observe({ script: [misfit, misfit], hooks: [output], budget: { maxSteps: 2 } });
    expect([state.status, state.stopReason, state.stepCount]).toEqual(['stopped', 'stepsLimitReached', 2]);
    expect(said(state.messages).at(-1)).toBe(misfit);
    expect(() => output.read(state)).toThrow(invalid(issue));
  });

  test('a forced stop allows no repairs', async () => {
    const stops: Hook = {
      afterStep: (state) => state.withStopSignal({ reason: 'userRequested', message: 'Enough.' }),
    };
    const output = structuredOutput(weather);
    const { state, driver } = await observe({ script: [misfit], hooks: [output, stops] });
    driver.assertComplete();
    expect([state.status, state.errors]).toEqual(['stopped', []]);
    const throws: Hook = {
      beforeInference() {
        throw new AgentStop('No.');
      },
    };
    const unbegun = await observe({ hooks: [output, throws] });
    expect(() => output.read(unbegun.state)).toThrow(
      invalid('the state has no final response: the execution is stopped'),
    );
    expect(() => output.read(told())).toThrow(
      invalid('the state has no final response: the execution is not started'),
    );
  });

  test('a stop for the finish reason of a response does not prevent a repair', async () => {
    const output = structuredOutput(weather);
    const { state } = await observe({ script: [misfit, fits], hooks: [output, finishReason('stop')] });
    expect([state.status, output.read(state).celsius]).toEqual(['completed', 21]);
  });

  test('a step that another hook requests needs no repair message', async () => {
    const more: Hook = {
      afterStep: (state) => (state.stepCount === 1 ? state.withContinuationRequested() : undefined),
    };
    const output = structuredOutput(weather);
    const { state } = await observe({ script: [fits, fits], hooks: [output, more] });
    expect(said(state.messages)).toEqual(['Go', fits, fits]);
  });
});

test('a run that ended between a response and its repair is resumed by another process', async () => {
  const output = structuredOutput(weather);
  const leaving = new AbortController();
  const left: AgentState[] = [];
  const keep: Hook = {
    priority: -2_000,
    beforeStep(state) {
      left.push(state);
      if (state.stepCount === 1) leaving.abort(new RunAbort('yield'));
    },
    beforeInference: (_, { state }) => void left.push(state),
    afterStep: (state) => void left.push(state),
  };
  const run = { signal: leaving.signal };
  const { state: last } = await observe({ script: [misfit], hooks: [output, keep], run });
  left.push(last);
  expect(left.map(({ messages }) => messages.length)).toEqual([1, 1, 1, 3, 3]);
  for (const state of left) {
    const script = state.execution?.latestStep?.response ? [fits] : [misfit, fits];
    const { state: end, driver } = await observe({ state: readBack(state), script, hooks: [output] });
    driver.assertComplete();
    expect(said(end.messages)).toEqual([...said(last.messages), fits]);
    expect(output.read(end).celsius).toBe(21);
  }
});

test.each([-1, 1.5, Number.NaN])('maxRepairs %s throws', (maxRepairs) => {
  const make = () => structuredOutput(weather, { maxRepairs });
  expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});

test('a schema that cannot describe itself needs a JSON Schema', () => {
  const standard = { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) } as const;
  const schema = { '~standard': standard };
  expect(() => structuredOutput(schema)).toThrow(expect.objectContaining({ code: 'OUTPUT_SCHEMA_INVALID' }));
  const { responseFormat } = structuredOutput(schema, { jsonSchema: { type: 'object' } });
  expect(responseFormat).toEqual({ type: 'json', schema: { type: 'object' } });
});

describe('partials', () => {
  const question = AgentState.empty().withUserMessage('How is it?');

  test('grow with the deltas of the response, and start again with each response', async () => {
    const output = structuredOutput(weather);
    const driver = scriptedDriver('{"city": "Ulm", "celsius": "warm"}', '{"city": "Ulm", "celsius": 21}');
    const stream = createAgentLoop({ driver, hooks: [output] }).stream(question);
    const seen: unknown[] = [];
    for await (const partial of output.partials(stream)) {
      expectTypeOf(partial).toEqualTypeOf<{ readonly city?: string; readonly celsius?: number }>();
      seen.push(partial);
    }
    expect(seen).toEqual([
      {},
      { city: 'Ulm' },
      { city: 'Ulm' },
      { city: 'Ulm', celsius: 'warm' },
      {},
      { city: 'Ulm' },
      { city: 'Ulm' },
      { city: 'Ulm', celsius: 21 },
    ]);
    expect(output.read(await stream.result)).toEqual({ city: 'Ulm', celsius: 21 });
  });

  test('begin after a comment of the model', async () => {
    const output = structuredOutput(weather);
    const content = [phased('Let me see.', 'commentary'), phased(fits, 'final_answer')];
    const loop = createAgentLoop({ driver: scriptedDriver({ content }), hooks: [output] });
    const seen: unknown[] = [];
    for await (const partial of output.partials(loop.stream(question))) seen.push(partial);
    expect(seen.at(-1)).toEqual({ city: 'Ulm', celsius: 21 });
  });

  test('of text that is not JSON are none', async () => {
    const output = structuredOutput(weather, { maxRepairs: 0 });
    const loop = createAgentLoop({ driver: scriptedDriver('It is 21 degrees.'), hooks: [output] });
    const seen: unknown[] = [];
    for await (const partial of output.partials(loop.stream(question))) seen.push(partial);
    expect(seen).toEqual([]);
  });

  test('abort the run when their reader stops', async () => {
    const output = structuredOutput(weather);
    const driver = scriptedDriver(misfit, fits);
    const stream = createAgentLoop({ driver, hooks: [output] }).stream(question);
    for await (const partial of output.partials(stream)) {
      expect(partial).toBeDefined();
      break;
    }
    expect((await stream.result).status).toBe('stopped');
    expect(driver.requests).toHaveLength(1);
  });
});
