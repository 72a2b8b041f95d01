import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { InferenceOptions } from '@holdfast/core/driver';

/** One attempt at a call of a model, as telemetry sees it. */
export interface ObservedCall {
  readonly model: Pick<LanguageModelV4, 'provider' | 'modelId'>;
  readonly options: LanguageModelV4CallOptions;
  readonly maxRetries: number;
}

/** Makes an attempt at a call of a model. */
export type AroundCall = <T>(call: ObservedCall, execute: () => PromiseLike<T>) => PromiseLike<T>;

/** The options of a call that telemetry observes. */
export interface ObservedInference extends InferenceOptions {
  readonly aroundCall?: AroundCall | undefined;
}
