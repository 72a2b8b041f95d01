import { createHash } from 'node:crypto';

/** A piece of a prompt. */
export interface Block {
  readonly text: string;
  /** The provider caches the prompt up to the end of this block. */
  readonly isMarked: boolean;
}

/** The input tokens of a call, each counted once. */
export interface CountedInput {
  readonly fresh: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The cache of a provider. No entry expires. */
export interface PromptCacheRule {
  /** Counts the tokens of a call, and caches its prompt. */
  count(blocks: readonly Block[]): CountedInput;
}

const CHARACTERS_PER_TOKEN = 4;

export function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** A prefix of a prompt. */
interface Prefix {
  readonly hash: string;
  readonly tokens: number;
}

/** The prefix that ends with each block. */
function prefixesOf(blocks: readonly Block[]): readonly Prefix[] {
  const digest = createHash('sha256');
  let tokens = 0;
  return blocks.map(({ text }) => {
    digest.update(`${text.length}:${text}`);
    tokens += tokensOf(text);
    return { hash: digest.copy().digest('base64'), tokens };
  });
}

/**
 * Anthropic: each mark caches the prompt up to it, and a call reads the longest cached prompt that ends at a mark, or at
 * one of the 20 blocks before a mark. A prompt below `minimum` tokens is not cached.
 */
export function markedCache(minimum = 1_024, lookBack = 20): PromptCacheRule {
  const cached = new Set<string>();
  return {
    count(blocks) {
      const prefixes = prefixesOf(blocks);
      const total = prefixes.at(-1)?.tokens ?? 0;
      const marks = blocks.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
      const isVisible = (index: number): boolean =>
        marks.some((mark) => index <= mark && mark - index <= lookBack);
      const hits = prefixes.filter(({ hash }, index) => cached.has(hash) && isVisible(index));
      const cacheRead = hits.at(-1)?.tokens ?? 0;
      const written = marks.flatMap((mark) => prefixes[mark] ?? []).filter(({ tokens }) => tokens >= minimum);
      for (const { hash } of written) cached.add(hash);
      const end = Math.max(cacheRead, written.at(-1)?.tokens ?? 0);
      return { cacheRead, cacheWrite: end - cacheRead, fresh: total - end };
    },
  };
}

/**
 * OpenAI and Google: a call reads the longest beginning that it has in common with an earlier call, from `minimum` tokens
 * on, in steps of `step` tokens. Writing costs nothing.
 */
export function prefixCache(minimum: number, step: number): PromptCacheRule {
  const cached = new Set<string>();
  return {
    count(blocks) {
      const prefixes = prefixesOf(blocks);
      const total = prefixes.at(-1)?.tokens ?? 0;
      const shared = prefixes.findLast(({ hash }) => cached.has(hash))?.tokens ?? 0;
      const cacheRead = shared < minimum ? 0 : minimum + Math.floor((shared - minimum) / step) * step;
      for (const { hash } of prefixes) cached.add(hash);
      return { cacheRead, cacheWrite: 0, fresh: total - cacheRead };
    },
  };
}
