import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4StreamPart,
  type SharedV4Warning,
} from '@ai-sdk/provider';
import type { InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { systemClock } from '@holdfast/core';
import type { ObservedInference } from './observed-call.ts';
import { unlessAborted } from '../response/abort.ts';
import type { CalledModel } from '../values/called-model.ts';
import { convertRequest } from './call-options.ts';
import { convertPartialResult, convertResult, isFinished } from '../response/convert-response.ts';
import type { CacheCall } from '../cache/prompt-cache.ts';
import { callFailed, shownError, type AiSdkDriverError } from '../errors/driver-error.ts';
import { promptOfAttempt, type Prompt } from '../prompt/prompt.ts';
import { withoutResultFiles } from '../prompt/result-files.ts';
import { readStream } from '../response/read-stream.ts';
import { withRetries, type AttemptResult, type AttemptsResult, type Wait } from './retry.ts';
import { headersOf, type CallHeaders, type HeadersOption } from './headers.ts';
import { limitsOf, type AttemptLimits, type CallTimeouts } from './timeouts.ts';
import {
  InvalidCallError,
  PlainBodyError,
  RefusedAnswerError,
  UnfinishedAnswerError,
  WebPageError,
} from '../errors/call-errors.ts';
import { errorKindOf, isCorrectable } from '../errors/error-kind.ts';
import { retryAfterSeconds } from '../errors/retry-after.ts';
import { refusedPlaceOf } from '../refusals/refused-place.ts';
import { withoutItems, withoutStorage } from './openai-store.ts';
import { withoutRefusedThinking, withSignedThinking } from './thinking.ts';
import { withKnownChoice } from './tool-choice.ts';
import { StreamedResponse } from '../response/stream-response.ts';
import { httpFactsOf, isJsonDocument, isWebPage, NO_FACTS, type HttpFacts } from '../response/http-facts.ts';
import { reportsUsageEarly } from '../response/reported-usage.ts';
import type { WarningListener } from './warnings.ts';

/** The options that all calls of a driver share. */
export interface CallPolicy {
  readonly maxRetries: number;
  readonly wait: Wait;
  readonly headers: HeadersOption | undefined;
  readonly timeouts: CallTimeouts | undefined;
  /** The names of the response headers to store, in lower case. */
  readonly responseHeaders: readonly string[];
  readonly cache: CacheCall;
  readonly onWarning: WarningListener | undefined;
  /** The lasting refusals, by model. The calls add them. */
  readonly refusals: Set<string>;
}

type CallOptions = ReturnType<typeof convertRequest>;
type Attempt = AttemptResult<InferenceResponse>;

/** The refusals after which a model is called without what it refused: encrypted reasoning, or marks for a prompt cache. */
const LASTING = ['encryptionRefused', 'cacheRefused'] as const;
type LastingRefusal = (typeof LASTING)[number];

/** One call of one model, with its retries. */
export class ModelCall {
  private readonly model: LanguageModelV4;
  private readonly policy: CallPolicy;
  private readonly inference: ObservedInference;
  private headers: CallHeaders | undefined;
  private partialResponse: InferenceResponse | undefined;
  /** True when the call is made without a stream. */
  private isPlain = false;
  private facts: HttpFacts = NO_FACTS;

  constructor(model: LanguageModelV4, policy: CallPolicy, inference: ObservedInference) {
    this.model = model;
    this.policy = policy;
    this.inference = inference;
  }

  /**
   * Returns the response.
   * @throws DriverError when no response arrives; the signal's reason when the signal aborts before a part arrives.
   */
  async answer(request: InferenceRequest, build: () => Prompt | Promise<Prompt>): Promise<InferenceResponse> {
    const built = attempted(build);
    if ('error' in built) throw this.failure(built.error, 0);
    const given = built.answer;
    const prompt = given instanceof Promise ? await this.prepared(() => given) : given;
    const { headers } = this.policy;
    this.headers =
      typeof headers === 'function' ? await this.prepared(() => this.headersOfCall(headers)) : headers;
    const outcome = await this.attempts(request, prompt);
    if ('answer' in outcome) return outcome.answer;
    throw this.failure(outcome.error, outcome.attempts, request);
  }

  /**
   * Calls the model until there is an answer. A prompt that refers to lost items is sent once more without references, and
   * a call that asks in vain for encrypted reasoning, a prompt cache or a stream, once more without asking.
   */
  private async attempts(
    request: InferenceRequest,
    prompt: Prompt,
  ): Promise<AttemptsResult<InferenceResponse>> {
    const outcome = await this.retried(() => this.attempt(request, prompt));
    const again = 'answer' in outcome || outcome.isFinal ? undefined : this.corrected(prompt, outcome.error);
    if (again === undefined) return outcome;
    const repeated = await this.retried(() => this.attempt(request, again));
    return { ...repeated, attempts: outcome.attempts + repeated.attempts };
  }

  /** Returns the prompt to send once more after an error, if a change of the call can help. */
  private corrected(prompt: Prompt, error: unknown): Prompt | undefined {
    if (error instanceof PlainBodyError) {
      this.isPlain = true; // the package reads a document, and tells the error in it, when it is asked for no stream
      return prompt;
    }
    if (isCorrectable(error, 'itemGone')) {
      const messages = withoutItems(promptOfAttempt(prompt));
      return { ...prompt, messages, filePlaces: [...messages.keys()] }; // any message may have files: the places changed
    }
    const refusal = LASTING.find((one) => isCorrectable(error, one));
    if (refusal === undefined || this.hasRefused(refusal)) return undefined;
    this.policy.refusals.add(this.refusalKey(refusal));
    return prompt;
  }

  private hasRefused(refusal: LastingRefusal): boolean {
    return this.policy.refusals.has(this.refusalKey(refusal));
  }

  /** Names the model, because registries create a new object for a model at each call. */
  private refusalKey(refusal: LastingRefusal): string {
    const { provider, modelId } = this.model;
    return `${refusal} ${provider} ${modelId}`;
  }

  private retried(attempt: () => Promise<Attempt>): Promise<AttemptsResult<InferenceResponse>> {
    const { maxRetries, wait } = this.policy;
    const { signal } = this.inference;
    return withRetries(attempt, { maxRetries, wait, signal, now: () => systemClock.now() });
  }

  private async attempt(request: InferenceRequest, prompt: Prompt): Promise<Attempt> {
    this.partialResponse = undefined;
    this.facts = NO_FACTS;
    const { signal, onDelta } = this.inference;
    const limits = limitsOf(this.policy.timeouts, signal);
    try {
      const options = attempted(() => this.optionsOf(request, prompt, limits.signal));
      if ('error' in options) return options;
      return await (onDelta && !this.isPlain
        ? this.stream(options.answer, onDelta, limits)
        : this.generate(options.answer, limits));
    } finally {
      limits.end();
    }
  }

  private optionsOf(request: InferenceRequest, prompt: Prompt, signal: AbortSignal): CallOptions {
    const { headers, model } = this;
    const messages = withoutResultFiles(promptOfAttempt(prompt), prompt.filePlaces, model);
    const options = convertRequest(request, messages, { headers, signal });
    const unstored = withoutStorage(options, model, !this.hasRefused('encryptionRefused'));
    const signed = withSignedThinking(withKnownChoice(unstored, model), model);
    const sent = withoutRefusedThinking(signed, model);
    const { run } = this.inference;
    if (this.hasRefused('cacheRefused')) return sent;
    return this.policy.cache(sent, { model, run, marks: prompt.marks });
  }

  private async generate(options: CallOptions, limits: AttemptLimits): Promise<Attempt> {
    const result = await this.value(
      () => this.observed(options, () => this.model.doGenerate(options)),
      limits.signal,
    );
    if ('error' in result) return result;
    const { answer } = result;
    const { modelId } = this.model;
    this.warn(answer.warnings);
    this.facts = httpFactsOf(answer.response?.headers, this.policy.responseHeaders);
    if (isFinished(answer.finishReason)) return this.usable(() => convertResult(answer, modelId, this.facts));
    this.keepPartial(() => convertPartialResult(answer, modelId, this.facts));
    return { error: new UnfinishedAnswerError('The answer has no finish reason.'), isFinal: false };
  }

  private async stream(
    options: CallOptions,
    onDelta: NonNullable<InferenceOptions['onDelta']>,
    limits: AttemptLimits,
  ): Promise<Attempt> {
    const { model } = this;
    const { awaitReader } = this.inference;
    if (reportsUsageEarly(model.provider)) options.includeRawChunks = true;
    limits.awaitFirstPiece();
    const result = await this.value(
      () => this.observed(options, () => model.doStream(options)),
      limits.signal,
      ({ stream }) => void stream.cancel().catch(() => undefined),
    );
    if ('error' in result) return result;
    const { stream, response: http } = result.answer;
    this.facts = httpFactsOf(http?.headers, this.policy.responseHeaders);
    const response = new StreamedResponse(model, this.facts);
    const end = await readStream(stream, limits.signal, (part) => {
      if (part.type === 'stream-start') this.warn(part.warnings);
      const delta = response.add(part);
      if (delta !== undefined || PIECES.has(part.type)) limits.pieceArrived();
      if (delta === undefined) return undefined;
      onDelta(delta);
      return limits.pausedFor(awaitReader?.());
    });
    if (end.type === 'failed' && end.finish) response.addUsage(end.finish);
    if (response.isFinished) return this.usable(() => response.complete());
    if (end.type === 'aborted' && this.inference.signal.aborted)
      return { answer: response.partial('aborted') ?? throwAborted(this.inference.signal) };
    this.keepPartial(() => response.partial('error'));
    const isSilent = end.type !== 'aborted' && !response.hasContent;
    const error = brokenOff(end, limits.signal);
    return { error: isSilent ? documentError(error, http?.headers) : error, isFinal: response.hasContent };
  }

  /** Returns a complete response, unless the provider refused to answer or the response has the wrong form. */
  private usable(convert: () => InferenceResponse): Attempt {
    try {
      const response = convert();
      if (!isRefused(response)) return { answer: response };
      this.partialResponse = response;
      return { error: new RefusedAnswerError('The model or its provider refused to answer.'), isFinal: true };
    } catch (cause) {
      return {
        error: new InvalidResponseDataError({ data: undefined, message: String(cause) }),
        isFinal: true,
      };
    }
  }

  private keepPartial(convert: () => InferenceResponse | undefined): void {
    const partial = attempted(convert);
    if ('answer' in partial) this.partialResponse = partial.answer;
  }

  /** The names of the model, for functions of the application: the model itself is not theirs. */
  private get called(): CalledModel {
    const { provider, modelId } = this.model;
    return { provider, modelId };
  }

  /** Makes one attempt, which telemetry may observe. Telemetry does not see a text that may quote a key. */
  private async observed<T>(options: CallOptions, attempt: () => PromiseLike<T>): Promise<T> {
    const { aroundCall } = this.inference;
    if (aroundCall === undefined) return attempt();
    const failed: unknown[] = [];
    const seen = async (): Promise<T> => {
      try {
        return await attempt();
      } catch (error) {
        failed.push(error);
        throw shownError(error);
      }
    };
    try {
      return await aroundCall({ model: this.called, options, maxRetries: this.policy.maxRetries }, seen);
    } catch (shown) {
      throw failed.length > 0 ? failed[0] : shown;
    }
  }

  /** Returns the result or the error of the SDK as a value. @throws the caller's reason when the caller aborts first. */
  private async value<T>(
    work: () => PromiseLike<T>,
    signal: AbortSignal,
    onLate?: (value: T) => void,
  ): Promise<AttemptResult<T>> {
    try {
      return { answer: await unlessAborted(work(), signal, onLate) };
    } catch (error) {
      this.inference.signal.throwIfAborted();
      return { error: signal.aborted ? signal.reason : error, isFinal: false };
    }
  }

  /** Returns a value that a call needs before it is made. @throws DriverError */
  private async prepared<T>(work: () => PromiseLike<T>): Promise<T> {
    const result = await this.value(work, this.inference.signal);
    if ('error' in result) throw this.failure(result.error, 0);
    return result.answer;
  }

  private headersOfCall(headers: Parameters<typeof headersOf>[0]): Promise<CallHeaders> {
    return headersOf(headers, { model: this.called, run: this.inference.run });
  }

  private failure(error: unknown, attempts: number, request?: InferenceRequest): AiSdkDriverError {
    const { model, partialResponse, facts } = this;
    const secrets = Object.values(this.headers ?? {}).filter((value) => value !== undefined);
    const after = retryAfterSeconds(error, systemClock.now());
    const call = { model, error, attempts, retryAfterSeconds: after, requestId: facts.requestId };
    const refused = request && refusedPlaceOf(error, model, request);
    return callFailed(call, { secrets, partialResponse, refused });
  }

  private warn(warnings: readonly SharedV4Warning[] | undefined): void {
    for (const warning of warnings ?? []) this.policy.onWarning?.(warning, this.called);
  }
}

/** The parts of a stream, besides deltas, that count as a piece of the response. */
const PIECES: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'tool-call',
  'tool-result',
  'file',
  'reasoning-file',
  'source',
  'custom',
  'finish',
]);

/** Returns the value or the error of a conversion. */
function attempted<T>(convert: () => T): AttemptResult<T> {
  try {
    return { answer: convert() };
  } catch (error) {
    if (error instanceof InvalidCallError) return { error, isFinal: true };
    const message = 'The messages or settings cannot be converted for the model.';
    return { error: new InvalidCallError(message, { cause: error }), isFinal: true };
  }
}

function brokenOff(end: Awaited<ReturnType<typeof readStream>>, signal: AbortSignal): unknown {
  if (end.type === 'failed') return end.error;
  return signal.aborted
    ? signal.reason
    : new UnfinishedAnswerError('The stream ended before the answer did.');
}

/** The error for a document that came where a stream was due; `error` when none did, or when it tells why. */
function documentError(error: unknown, headers: object | undefined): unknown {
  if (isWebPage(headers)) return new WebPageError('The server sent a web page.');
  const isRead = !['network', 'unknown'].includes(errorKindOf(error));
  return isRead || !isJsonDocument(headers) ? error : new PlainBodyError('The server sent no stream.');
}

/** True for a response that a filter ended before its first text or file. */
function isRefused({ finishReason, content }: InferenceResponse): boolean {
  return finishReason === 'content-filter' && !content.some(isShown);
}

function isShown(part: InferenceResponse['content'][number]): boolean {
  return part.type === 'text' ? part.text !== '' : part.type === 'file';
}

function throwAborted(signal: AbortSignal): never {
  signal.throwIfAborted();
  throw new DOMException('The call was aborted.', 'AbortError');
}
