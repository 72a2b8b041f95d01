import type { Feature } from '../wire.ts';

/** The features of a provider. */
export function features(...list: readonly Feature[]): ReadonlySet<Feature> {
  return new Set(list);
}

/** The features of servers that follow OpenAI's Chat Completions. */
export const chatFeatures = [
  'reasoning',
  'parallel-calls',
  'files-in',
  'cache-usage',
  'reasoning-usage',
  'structured-output',
] as const satisfies readonly Feature[];

/** The features of Claude. */
export const claudeFeatures = [
  'reasoning',
  'signature',
  'parallel-calls',
  'picture-results',
  'provider-calls',
  'files-in',
  'sources',
  'cache-usage',
  'reasoning-usage',
] as const satisfies readonly Feature[];

/** The features of the Responses API. */
export const responsesFeatures = [
  ...claudeFeatures,
  'structured-output',
] as const satisfies readonly Feature[];

/** The features of Gemini. */
export const geminiFeatures = [...responsesFeatures, 'files-out'] as const satisfies readonly Feature[];
