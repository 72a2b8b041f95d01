import type { Block } from './cache-rules.ts';

/** A JSON object of a request. */
export type Json = Readonly<Record<string, unknown>>;

/** The blocks of a request to Anthropic, in the order in which Anthropic caches them. */
export function anthropicBlocks({ tools, system, messages }: Json): readonly Block[] {
  return [
    ...list(tools).map(markedBlock),
    ...list(system).map(markedBlock),
    ...list(messages).flatMap(({ role, content }) =>
      list(content).map((part) => markedBlock({ role, ...part })),
    ),
  ];
}

/** The blocks of a request to OpenAI's Chat Completions. */
export function openAiBlocks({ tools, messages }: Json): readonly Block[] {
  return [...list(tools), ...list(messages)].map(plainBlock);
}

/** The blocks of a request to Gemini. */
export function googleBlocks({ systemInstruction, tools, contents }: Json): readonly Block[] {
  const parts = list(contents).flatMap(({ role, parts: inside }) =>
    list(inside).map((part) => ({ role, ...part })),
  );
  return [systemInstruction, ...list(tools), ...parts].map(plainBlock);
}

function markedBlock({ cache_control: mark, ...block }: Json): Block {
  return { text: JSON.stringify(block), isMarked: mark !== undefined };
}

function plainBlock(block: unknown): Block {
  return { text: JSON.stringify(block), isMarked: false };
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
