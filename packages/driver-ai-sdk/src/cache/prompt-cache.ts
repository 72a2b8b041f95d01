import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { AgentState } from '@holdfast/core';
import { mustBe, optionsCheck, type InferenceOptions } from '@holdfast/core/driver';
import { type CacheTtl, keyNamespace, marksOf } from './cache-rules.ts';
import type { CalledModel } from '../values/called-model.ts';
import { InvalidCallError } from '../errors/call-errors.ts';
import { mergedOptions } from '../values/provider-options.ts';
import { withMarks } from './cache-marks.ts';

/** The options of the prompt cache. */
export interface PromptCacheOptions {
  /** The time for which Anthropic and Bedrock cache a prompt after its last use; default `5m`. */
  readonly ttl?: '5m' | '1h';
  /**
   * Returns the key by which OpenAI and xAI find the cache of a prompt: at most 64 characters, equal for calls whose
   * prompts begin in the same way. Default: the agent id.
   */
  readonly key?: (state: AgentState) => string;
}

/** Whether calls use the prompt cache of their provider. */
export type PromptCache = 'off' | 'auto' | PromptCacheOptions;

const checkPromptCache = optionsCheck<PromptCacheOptions>('promptCache', {
  ttl: mustBe.oneOf(['5m', '1h']),
  key: mustBe.function,
});

/** A call whose prompt its provider may cache. */
interface CachedCall extends Pick<InferenceOptions, 'run'> {
  readonly model: CalledModel;
  /** The lifetimes of the marks that the application set in the messages. */
  readonly marks: readonly CacheTtl[];
}

/** Adds what the model's provider needs to cache the prompt of a call. The options of the application prevail. */
export type CacheCall = (options: LanguageModelV4CallOptions, call: CachedCall) => LanguageModelV4CallOptions;

/** @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
export function promptCacheOf(cache: PromptCache = 'off'): CacheCall {
  if (cache === 'off') return (options) => options;
  const { ttl = '5m', key = agentIdOf } = cache === 'auto' ? {} : checkPromptCache(cache);
  return (options, { model, run, marks: inMessages }) => {
    const marks = marksOf(model, ttl);
    const marked = marks ? withMarks(options, marks, ttl, inMessages) : options;
    const namespace = keyNamespace(model, options.providerOptions);
    return namespace && run ? withKey(marked, namespace, checkedKey(key(run.state))) : marked;
  };
}

function agentIdOf({ agentId }: AgentState): string {
  return agentId;
}

const KEY = mustBe.text(64);

/** @throws InvalidCallError for a key that providers refuse. */
function checkedKey(key: unknown): string {
  if (typeof key === 'string' && KEY.accepts(key)) return key;
  throw new InvalidCallError(`The function "key" of promptCache must return ${KEY.expected}.`);
}

function withKey(
  options: LanguageModelV4CallOptions,
  namespace: string,
  promptCacheKey: string,
): LanguageModelV4CallOptions {
  const providerOptions = mergedOptions({ [namespace]: { promptCacheKey } }, options.providerOptions);
  return { ...options, ...(providerOptions && { providerOptions }) };
}
