import { answersOf, type Scenario } from '../src/scenarios/scenario.ts';
import type { Answer, Feature } from '../src/wire.ts';
import type { StepFacts } from '../src/runs/outcome.ts';
import { expect } from 'vitest';

/** The facts that the answers of a scenario must lead to, as far as a provider has the features for them. */
export function expectedFacts(
  scenario: Scenario,
  features: ReadonlySet<Feature>,
): Partial<Record<keyof StepFacts, unknown>>[] {
  return answersOf(scenario).map((answer) => factsOf(answer, features));
}

function factsOf(
  { parts, finish, usage }: Answer,
  features: ReadonlySet<Feature>,
): Partial<Record<keyof StepFacts, unknown>> {
  const has = (feature: Feature): boolean => features.has(feature);
  const texts = (type: 'text' | 'reasoning'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  return {
    text: texts('text'),
    // The package of xAI calls a truncated answer `other` when it does not stream.
    finishReason: finish === 'length' ? expect.stringMatching(/^(length|other)$/) : finish,
    ...(has('reasoning') && { reasoning: texts('reasoning') }),
    ...(has('files-out') && { files: parts.filter(({ type }) => type === 'file').length }),
    ...(has('sources') && hasSources(parts) && { sources: expect.arrayContaining(sourcesOf(parts)) }),
    usage: {
      inputTokens: usage.input,
      outputTokens: usage.output,
      ...(has('cache-usage') && usage.cacheRead !== undefined && { cacheReadTokens: usage.cacheRead }),
      ...(has('reasoning-usage') && usage.reasoning !== undefined && { reasoningTokens: usage.reasoning }),
    },
  };
}

function hasSources(parts: Answer['parts']): boolean {
  return parts.some(({ type }) => type === 'source');
}

function sourcesOf(parts: Answer['parts']): string[] {
  return parts.filter((part) => part.type === 'source').map(({ url }) => url);
}
