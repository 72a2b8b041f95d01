import { orderedReader, readCount, readString, type Read } from '../../document.ts';

/** How much a model takes at once, as its refusals of longer requests have shown. */
export interface ContextLimit {
  /** The tokens that a request may have, prompt and tools included, by the estimate of the loop. */
  readonly maxTokens: number;
  /** The model, when it is known. */
  readonly model?: string | undefined;
}

export const readContextLimit: Read<ContextLimit> = orderedReader({
  maxTokens: readCount,
  'model?': readString,
});
