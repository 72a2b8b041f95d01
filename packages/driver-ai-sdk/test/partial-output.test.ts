import { parsePartialJson } from 'ai';
import { AgentState, createAgentLoop, structuredOutput } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finish, stream, textParts } from './builders.ts';

/**
 * Texts that `parsePartialJson` reads differently: it reads a number such as `1e+2` as 1 while it is the last of the text.
 */
const IS_READ_DIFFERENTLY = /\d[eE]/;

const output = structuredOutput({});

/** The partial values of a response that arrives in these pieces. */
async function partialsOf(pieces: readonly string[]): Promise<unknown[]> {
  const model = new MockLanguageModelV4({ doStream: stream([...textParts(...pieces), finish]) });
  const loop = createAgentLoop({ driver: aiSdkDriver({ model }), hooks: [output] });
  const events = loop.stream(AgentState.empty().withUserMessage('Write JSON.'));
  const partials: unknown[] = [];
  for await (const partial of output.partials(events)) partials.push(partial);
  return partials;
}

test('partial values are those of the AI SDK, for any JSON in any pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.array(fc.integer({ min: 1, max: 20 })), async (value, lengths) => {
      const text = JSON.stringify({ value });
      fc.pre(!IS_READ_DIFFERENTLY.test(text));
      const pieces: string[] = [];
      for (const length of [...lengths, text.length]) {
        const from = pieces.join('').length;
        if (from < text.length) pieces.push(text.slice(from, from + length));
      }
      const wanted: Awaited<ReturnType<typeof parsePartialJson>>[] = [];
      for (let count = 1; count <= pieces.length; count++)
        wanted.push(await parsePartialJson(pieces.slice(0, count).join('')));
      const found = await partialsOf(pieces);
      expect(found).toHaveLength(wanted.length);
      const readable = wanted.flatMap(({ state }, index) => (state === 'failed-parse' ? [] : [index]));
      expect(JSON.stringify(readable.map((index) => found[index]))).toBe(
        JSON.stringify(readable.map((index) => wanted[index]?.value)),
      );
    }),
  );
});
