import {
  generateText,
  isStepCount,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
} from 'ai';
import { z } from 'zod';
import type { StrictProfile } from '../../src/strict/index.ts';

export type Mode = 'whole' | 'streamed';

globalThis.AI_SDK_LOG_WARNINGS = false;

const weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `Rain in ${city}.`,
});

function optionsOf({ model, options }: StrictProfile, url: string, messages: readonly ModelMessage[]) {
  return {
    model: model(url) as LanguageModel,
    instructions: 'Be brief.',
    messages: [...messages],
    maxRetries: 0,
    maxOutputTokens: 4000,
    stopWhen: isStepCount(5),
    tools: { weather } as ToolSet,
    ...(options && { providerOptions: options }),
  };
}

/** The messages that a turn of the AI SDK adds. A refusal is thrown. */
export async function turn(
  profile: StrictProfile,
  url: string,
  mode: Mode,
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  const options = optionsOf(profile, url, messages);
  if (mode === 'whole') return (await generateText(options)).responseMessages;
  const errors: unknown[] = [];
  const result = streamText({ ...options, onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  if (errors.length > 0) throw errors[0];
  return result.responseMessages;
}

/** A conversation of the AI SDK, one turn for each question. */
export async function conversation(
  profile: StrictProfile,
  url: string,
  mode: Mode,
  questions: readonly string[],
): Promise<void> {
  const messages: ModelMessage[] = [];
  for (const question of questions) {
    messages.push({ role: 'user', content: [{ type: 'text', text: question }] });
    messages.push(...(await turn(profile, url, mode, messages)));
  }
}
