import type { LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import type { InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { systemClock } from '@holdfast/core';
import { unlessAborted } from './abort.ts';
import { convertRequest } from './call-options.ts';
import { convertPartialResult, convertResult, isFinished } from '../response/convert-response.ts';
import type { AiSdkDriverError } from '../errors/driver-error.ts';
import { callFailed } from '../errors/driver-error.ts';
import type { Prompt } from '../prompt/prompt.ts';
import { promptOfAttempt } from '../prompt/prompt.ts';
import { readStream } from '../response/read-stream.ts';
import type { AttemptResult, Wait } from './retry.ts';
import { UnfinishedAnswerError } from '../errors/error-kind.ts';
import { retryAfterSeconds, withRetries } from './retry.ts';
import { StreamedResponse } from '../response/stream-response.ts';

/** The model that was called. */
export interface CalledModel {
  /** The provider's name, as in `openai.responses`. */
  readonly provider: string;
  /** The provider's id of the model. */
  readonly modelId: string;
}

/** The options that all calls of a driver share. */
export interface CallPolicy {
  readonly maxRetries: number;
  readonly wait: Wait;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly onWarning: ((warning: SharedV4Warning, model: CalledModel) => void) | undefined;
}

type CallOptions = ReturnType<typeof convertRequest>;

/** One call of one model, with its retries. */
export class ModelCall {
  private readonly model: LanguageModelV4;
  private readonly policy: CallPolicy;
  private readonly inference: InferenceOptions;
  private partialResponse: InferenceResponse | undefined;

  constructor(model: LanguageModelV4, policy: CallPolicy, inference: InferenceOptions) {
    this.model = model;
    this.policy = policy;
    this.inference = inference;
  }

  /**
   * Returns the response.
   * @throws DriverError when no response arrives; the signal's reason when the signal aborts before a part arrives.
   */
  async answer(request: InferenceRequest, given: Prompt | Promise<Prompt>): Promise<InferenceResponse> {
    const { headers, maxRetries, wait } = this.policy;
    const { signal, onDelta } = this.inference;
    const prompt = given instanceof Promise ? await this.value(() => given) : { answer: given };
    if ('error' in prompt) throw this.failure(prompt.error, 0);
    const attempt = (): Promise<AttemptResult<InferenceResponse>> => {
      const options = convertRequest(request, promptOfAttempt(prompt.answer), { headers, signal });
      this.partialResponse = undefined;
      return onDelta ? this.stream(options, onDelta) : this.generate(options);
    };
    const outcome = await withRetries(attempt, { maxRetries, wait, signal, now: () => systemClock.now() });
    if ('answer' in outcome) return outcome.answer;
    throw this.failure(outcome.error, outcome.attempts);
  }

  private async generate(options: CallOptions): Promise<AttemptResult<InferenceResponse>> {
    const result = await this.value(() => this.model.doGenerate(options));
    if ('error' in result) return result;
    const { answer } = result;
    const { modelId } = this.model;
    this.warn(answer.warnings);
    if (isFinished(answer.finishReason)) return { answer: convertResult(answer, modelId) };
    this.partialResponse = convertPartialResult(answer, modelId);
    return { error: new UnfinishedAnswerError('The answer has no finish reason.'), isFinal: false };
  }

  private async stream(
    options: CallOptions,
    onDelta: NonNullable<InferenceOptions['onDelta']>,
  ): Promise<AttemptResult<InferenceResponse>> {
    const { signal, awaitReader } = this.inference;
    const result = await this.value(
      () => this.model.doStream(options),
      ({ stream }) => void stream.cancel().catch(() => undefined),
    );
    if ('error' in result) return result;
    const response = new StreamedResponse(this.model.modelId);
    const end = await readStream(result.answer.stream, signal, (part) => {
      if (part.type === 'stream-start') this.warn(part.warnings);
      const delta = response.add(part);
      if (delta === undefined) return undefined;
      onDelta(delta);
      return awaitReader?.();
    });
    if (response.isFinished) return { answer: response.complete() };
    if (end.type === 'aborted') return { answer: response.partial('aborted') ?? throwAborted(signal) };
    this.partialResponse = response.partial('error');
    const error =
      end.type === 'failed'
        ? end.error
        : new UnfinishedAnswerError('The stream ended before the answer did.');
    return { error, isFinal: response.hasContent };
  }

  /** Returns the result or the error of the SDK as a value. @throws the signal's reason when the signal aborts first. */
  private async value<T>(work: () => PromiseLike<T>, onLate?: (value: T) => void): Promise<AttemptResult<T>> {
    const { signal } = this.inference;
    try {
      return { answer: await unlessAborted(work(), signal, onLate) };
    } catch (error) {
      signal.throwIfAborted();
      return { error, isFinal: false };
    }
  }

  private failure(error: unknown, attempts: number): AiSdkDriverError {
    const { model, partialResponse } = this;
    const secrets = Object.values(this.policy.headers ?? {});
    const after = retryAfterSeconds(error, systemClock.now());
    return callFailed({ model, error, attempts, retryAfterSeconds: after }, { secrets, partialResponse });
  }

  private warn(warnings: readonly SharedV4Warning[] | undefined): void {
    const { provider, modelId } = this.model;
    for (const warning of warnings ?? []) {
      try {
        this.policy.onWarning?.(warning, { provider, modelId });
      } catch {
        // A listener does not take part in the call.
      }
    }
  }
}

function throwAborted(signal: AbortSignal): never {
  signal.throwIfAborted();
  throw new DOMException('The call was aborted.', 'AbortError');
}
