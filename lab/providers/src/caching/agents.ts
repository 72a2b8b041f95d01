import { tool, type Tool } from '@holdfast/core';
import { z } from 'zod';

/** The sizes of an agent's work, in tokens. */
export interface AgentShape {
  readonly name: string;
  readonly systemPrompt: number;
  readonly tools: number;
  /** The description of each tool. */
  readonly description: number;
  readonly question: number;
  readonly answer: number;
  /** The calls of each step before the final response, in turn `turn`. */
  readonly steps: (turn: number) => readonly number[];
  readonly callInput: number;
  readonly result: number;
}

/** A chat with a few tools: one lookup in two of three turns. */
const chat: AgentShape = {
  name: 'chat',
  systemPrompt: 1_200,
  tools: 4,
  description: 100,
  question: 60,
  answer: 200,
  steps: (turn) => (turn % 3 === 0 ? [] : [1]),
  callInput: 40,
  result: 400,
};

/** Research: searches in parallel, with long results. */
const research: AgentShape = {
  name: 'research',
  systemPrompt: 1_500,
  tools: 6,
  description: 200,
  question: 100,
  answer: 700,
  steps: () => [2, 3, 2, 3],
  callInput: 60,
  result: 1_500,
};

/** Coding: many steps in each turn; every third turn begins with 12 calls at once. */
const coding: AgentShape = {
  name: 'coding',
  systemPrompt: 3_000,
  tools: 12,
  description: 250,
  question: 120,
  answer: 250,
  steps: (turn) => [turn % 3 === 2 ? 12 : 3, 2, 1, 1, 1, 2, 1, 1],
  callInput: 150,
  result: 600,
};

export const AGENTS: readonly AgentShape[] = [chat, research, coding];

const CHARACTERS_PER_TOKEN = 4;

/** A text of this size, which begins with its own name so that no two texts are equal. */
export function textOfTokens(name: string, tokens: number): string {
  return `${name}: `.padEnd(tokens * CHARACTERS_PER_TOKEN, 'a line of text ');
}

/** The tools of an agent. Each call returns a text of the agent's size. */
export function toolsOf({ tools, description, result }: AgentShape): readonly Tool[] {
  return Array.from({ length: tools }, (_, index) =>
    tool({
      name: `tool_${index}`,
      description: textOfTokens(`Tool ${index}`, description),
      inputSchema: z.object({ what: z.string() }),
      execute: ({ what }) => textOfTokens(`Found for ${what.slice(0, 12)}`, result),
    }),
  );
}
