/** The program of the README with the AI SDK alone: without a store, and without sessions. It is bundled, not run. */
import { openai } from '@ai-sdk/openai';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';

const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const { text, usage } = await generateText({
  model: openai('gpt-5-mini'),
  tools: { add },
  stopWhen: isStepCount(20),
  prompt: 'What is 2 + 2?',
});
console.log(text, usage);
