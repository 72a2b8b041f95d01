import {
  AgentState,
  consoleObserver,
  createAgentLoop,
  structuredOutput,
  tool,
  type AgentEvent,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fasterGrowth, repeated, type Pump, type Work } from '../../../../../tools/config/vitest.growth.ts';
import { partialsOf } from '../../../src/agents/partial-json.ts';
import { checkJsonSchema } from '../../../src/loop/tools/json-schema.ts';

/** A text of a model, a tool or a document, however long, costs linear time: 1 MB takes at most six times as long as 256 KB. */

const start = AgentState.empty().withUserMessage('Hello.');
const pumpsOf = (...pieces: readonly string[]): readonly Pump[] => pieces.map((piece) => repeated(piece));
const texts = pumpsOf('a', ' ', '\n', '```', '\u{202E}', '"', 'a b\r\n');
const jsons: readonly Pump[] = [
  ...pumpsOf('[', '{"a":', ' ', '1'),
  repeated('1,', '['),
  repeated('"a":1,"b":[1],', '{'),
  repeated('1', '[-'),
  repeated('\\u0041', '["'),
  repeated('a', '```json\n["'),
];

/** The events of a response that arrives in deltas of some characters. */
async function* deltasOf(text: string, length: number): AsyncGenerator<AgentEvent> {
  for (let at = 0; at < text.length; at += length)
    yield {
      type: 'inference-delta',
      delta: { type: 'text', id: '1', text: text.slice(at, at + length) },
    } as AgentEvent;
}

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const value of values) last = value;
  return last;
}

const echo = tool({
  name: 'echo',
  description: 'Fails.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }: { readonly text: string }) => Promise.reject(new Error(text)),
});

/** Runs an agent whose events go to the console, or to nobody. */
async function runWith(text: string): Promise<AgentState> {
  const lines: string[] = [];
  const observer = consoleObserver({ write: (line) => void lines.push(line) });
  const driver = scriptedDriver({ calls: { echo: { text }, [text.slice(0, 2_000)]: {} } }, text);
  return createAgentLoop({ driver, tools: [echo], listeners: [observer] }).run(start);
}

const works: Readonly<Record<string, readonly [Work, readonly Pump[]]>> = {
  'JSON that arrives in pieces, with each value': [(text) => lastOf(partialsOf(deltasOf(text, 64))), jsons],
  'a response as structured output': [
    async (text) => {
      const output = structuredOutput({}, { maxRepairs: 0 });
      return createAgentLoop({ driver: scriptedDriver(text), hooks: [output] }).run(start);
    },
    texts,
  ],
  'the lines of a console': [runWith, pumpsOf('a', '\u{202E}')],
  'a value under a JSON Schema': [
    (text) =>
      checkJsonSchema(
        { type: 'object', additionalProperties: { type: 'number' } },
        { [text]: text, a: [text] },
        'it',
        9,
      ),
    texts,
  ],
  'a document with long keys': [
    (text) => {
      try {
        return AgentState.fromJSON({
          ...(start.toJSON() as object),
          metadata: { [text]: { [text]: Symbol.iterator } },
        });
      } catch (error) {
        return error;
      }
    },
    texts,
  ],
};

test.each(Object.entries(works))('%s', async (_, [work, pumps]) => {
  expect(await fasterGrowth(work, pumps)).toEqual([]);
});

test('the values of a long list are further apart, and the last one is whole', async () => {
  const text = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, index) => index) });
  const seen: unknown[] = [];
  for await (const value of partialsOf(deltasOf(text, 4))) seen.push(value);
  expect(seen.length).toBeLessThan(5_000);
  expect(seen.at(-1)).toEqual(JSON.parse(text));
});
