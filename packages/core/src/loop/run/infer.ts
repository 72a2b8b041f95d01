import { pause } from '../../clock.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { DriverError, partialResponseOf, type DriverErrorKind } from '../inference/driver-error.ts';
import type { Fallback } from '../inference/fallback.ts';
import { failureOf, failureToRepeat, isRepeatedAtOnce, mayRepeatAt } from '../inference/retry-policy.ts';
import { usageOfFailure, usageOrEstimate } from '../inference/token-estimate.ts';
import { Usage } from '../../state/inference/usage.ts';
import { pricedUsage } from '../inference/model-prices.ts';
import { excessOf } from '../tools/result-size.ts';
import type { StepId } from '../../state/values/ids.ts';
import {
  InferenceResponse,
  isBroken,
  isEmpty,
  isUnfinished,
} from '../../state/inference/inference-response.ts';
import type { InferenceDelta, InferenceRequest } from '../inference/driver.ts';
import { repairedMessages } from '../compile/repair-messages.ts';
import { userMessage } from '../../state/messages/messages.ts';
import type { EventBody } from '../steps/events.ts';
import { nextActionOf, type Workable } from '../steps/stepper.ts';
import {
  effectiveRequest,
  fingerprintFor,
  responseOf,
  sendRequest,
  sentRequest,
  strictestAfter,
  type CallingRun,
} from './call-model.ts';
import { withRefusedMessages } from './compiled-step.ts';
import type { SendableRequest } from '../sending/sendable.ts';
import { canBeShorter, shortenRequest, withAdvice } from './shorter-request.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { RunParts } from './loop-parts.ts';
import type { HookedRun, RunHooks } from './run-hooks.ts';

/** The part of a run that the inference of a step uses. */
export interface InferenceRun
  extends CallingRun, Workable, Pick<HookedRun, 'signals' | 'checkAbort' | 'mayBegin'> {
  readonly given: Pick<RunParts, 'listeners' | 'runContext' | 'awaitReader'>;
  /** True before the first call of the model in a step that this run began: the limits were checked for it. */
  readonly isFirstCall: boolean;
  readonly hooks: RunHooks;
  readonly checkpointer: Checkpointer;
  emit(happening: EventBody): void;
  change(state: AgentState): void;
}

/**
 * Performs the inference of a step, with the hooks around it. Records no response when the run was stopped before the
 * call, or aborted before a response that is worth keeping.
 * @throws the error of the driver or a hook; HoldfastError `DRIVER_FAILED`, `INFERENCE_INVALID`.
 */
export async function infer(run: InferenceRun): Promise<void> {
  const { loop } = run;
  if (!run.isFirstCall && (await run.hooks.enforceLimits())) return; // failed calls are billed too
  const fallback = loop.fallback?.inUse(run.state, loop.clock.now());
  if (!run.isFirstCall) {
    if (!isOtherModel(run, fallback)) await shortenRequest(run, requestOf(run, fallback));
    if (!run.mayBegin() || nextActionOf(run).type !== 'infer') return;
  }
  let request = finalRequest(run, requestOf(run, fallback));
  if (loop.hooks.has('beforeInference')) {
    request = await requestAfterHooks(run, request);
    if (!run.mayBegin() || nextActionOf(run).type !== 'infer') return;
  }
  keepRequest(run, request);
  if (loop.hooks.has('checkRequest')) loop.hooks.checkRequest(request, run.hooks.context);
  const stepId = run.state.currentStep?.id as StepId;
  const { listeners } = run.given;
  if (listeners.length > 0) announceStart(run, stepId, request);
  const signal = run.signals.current;
  const call = { isOpen: true };
  const onDelta = listeners.length === 0 ? undefined : reporterOf(run, stepId, call);
  let response: InferenceResponse | undefined;
  let fingerprint: string | undefined;
  let sent: SendableRequest | undefined;
  try {
    sent = sentRequest(run, request);
    let given: Awaited<ReturnType<typeof sendRequest>>;
    try {
      given = await sendRequest(run, sent, { signal, onDelta });
    } catch (error) {
      sent = strictestAfter(error, sent, run, request, signal);
      given = await sendRequest(run, sent, { signal, onDelta });
    }
    response = requireRoom(run, responseOf(sent, given));
    fingerprint = fingerprintFor(sent, response);
    requireAnswer(response, run, request);
    const kind = run.checkAbort();
    if (kind === 'lost' || (kind === 'yield' && response.finishReason === 'aborted')) return;
  } catch (thrown) {
    const error = sent === undefined ? thrown : withRefusedMessages(thrown, run, sent);
    response = abortedResponse(run, error, { ...request, fallback });
    if (response === undefined) return;
  } finally {
    call.isOpen = false;
  }
  if (response.finishReason === 'aborted') response = withUsage(response, request);
  if (loop.hooks.has('afterInference')) response = await responseAfterHooks(run, response, fingerprint);
  else recordResponse(run, response, fingerprint);
}

/**
 * @throws DriverError with the response as its `partialResponse`, for a response that is no answer: it broke off, it ended
 * with an error, or it has nothing that a reader or a tool could use.
 */
function requireAnswer(response: InferenceResponse, { loop }: InferenceRun, request: InferenceRequest): void {
  if (isUnfinished(response))
    throw noAnswer('network', 'The response of the model ended without a finish reason.', response);
  const isError = isBroken(response);
  if (!isError && !isEmpty(response)) return;
  const modelId = loop.modelIdOf(request.llmConfig);
  const model = modelId === undefined ? 'The model' : `The model "${modelId}"`;
  const reason = response.rawFinishReason ?? response.finishReason;
  if (isError) {
    const message = `${model} ended its response with an error: ${reason}. Name a fallback model.`;
    throw noAnswer('brokenAnswer', message, response);
  }
  const advice = response.finishReason === 'length' ? 'Raise maxOutputTokens' : 'Name a fallback model';
  throw noAnswer('emptyAnswer', `${model} answered with nothing (${reason}). ${advice}.`, response);
}

/** @throws DriverError for a response that is larger than the store of the session takes. */
function requireRoom({ loop }: InferenceRun, response: InferenceResponse): InferenceResponse {
  const excess = excessOf(response, loop.resultLimits);
  if (excess === undefined) return response;
  const message = `The response of the model was not kept: it has ${excess}.`;
  throw new DriverError('unknown', message, { partialResponse: { ...response, content: [] } });
}

function noAnswer(kind: DriverErrorKind, message: string, partialResponse: InferenceResponse): DriverError {
  const finishReason = partialResponse.rawFinishReason ?? partialResponse.finishReason;
  return new DriverError(kind, message, { partialResponse, data: { finishReason } });
}

function requestOf({ loop, state }: InferenceRun, fallback: LlmConfig | undefined): InferenceRequest {
  return {
    messages: state.currentStep?.input ?? state.messages,
    systemPrompt: state.systemPrompt,
    tools: loop.toolList,
    toolChoice: loop.toolChoice,
    responseFormat: state.responseFormat,
    llmConfig: fallback ? { ...state.llmConfig, ...fallback } : state.llmConfig,
  };
}

/** True when the fallback is called after another model has failed. */
function isOtherModel({ loop, state }: InferenceRun, fallback: LlmConfig | undefined): boolean {
  const failed = state.currentStep?.inferenceFailures.at(-1)?.modelId;
  return fallback !== undefined && loop.modelIdOf({ ...state.llmConfig, ...fallback }) !== failed;
}

const LAST_STEP = 'This is the last step: no tool can be called any more. Answer now with what you know.';

/** The request of the last step when it must answer: no calls, and a message at the end that says so. */
function finalRequest(run: InferenceRun, request: InferenceRequest): InferenceRequest {
  const { state, loop } = run;
  const isLast = state.stepCount >= (loop.budget.maxSteps ?? Infinity);
  if (loop.finalStep !== 'answer' || !isLast || loop.toolList.length === 0) return request;
  const { currentStep: step } = state;
  const at = run.now();
  const isTold = request.messages.last?.id === step?.id;
  const note = userMessage(LAST_STEP, { id: String(step?.id), createdAt: at });
  const input = isTold ? request.messages : request.messages.append(note);
  if (!isTold) run.advance({ type: 'inputChanged', input, at });
  return { ...request, messages: input, toolChoice: 'none' };
}

/** Records the effective request in the step, unless it equals the settings of the state, which is the usual case. */
function keepRequest(run: InferenceRun, given: InferenceRequest): void {
  if (isUsual(run, given)) return;
  run.advance({ type: 'requestChanged', request: effectiveRequest(run, given), at: run.now() });
}

/** True for a request with the settings of the state, when no step before it had another one. */
function isUsual({ state, loop }: InferenceRun, { llmConfig, toolChoice }: InferenceRequest): boolean {
  const { execution, currentStep, lastStep } = state;
  if (toolChoice !== 'auto' || llmConfig !== state.llmConfig || execution?.llmConfig !== undefined)
    return false;
  if (currentStep?.request !== undefined || lastStep?.request !== undefined) return false;
  return llmConfig?.model === undefined || loop.modelIdOf(llmConfig) === llmConfig.model;
}

function announceStart(
  run: InferenceRun,
  stepId: StepId,
  { messages, llmConfig, toolChoice }: InferenceRequest,
): void {
  const request = Object.freeze({ model: run.loop.modelIdOf(llmConfig), llmConfig, toolChoice });
  run.emit({ type: 'inference-started', stepId, messageCount: messages.length, request });
}

/** The request after the hooks, with repaired messages. Changed messages become the input of the step. */
async function requestAfterHooks(run: InferenceRun, original: InferenceRequest): Promise<InferenceRequest> {
  const request = await run.hooks.pass(
    'beforeInference',
    original,
    (known, change) => change?.request ?? known,
  );
  if (request.messages === original.messages) return request;
  const input = repairedMessages(request.messages, original.messages);
  run.advance({ type: 'inputChanged', input, at: run.now() });
  return { ...request, messages: input };
}

/** Calls AfterInference hooks. The response is recorded even when a hook throws, because it was paid for. */
async function responseAfterHooks(
  run: InferenceRun,
  given: InferenceResponse,
  fingerprint: string | undefined,
): Promise<InferenceResponse> {
  let response = given;
  try {
    return await run.hooks.pass(
      'afterInference',
      given,
      (known, change) => (response = change?.response ? requireRoom(run, change.response) : known),
    );
  } finally {
    recordResponse(run, response, fingerprint);
  }
}

/**
 * Returns the part of the response that had arrived before an abort, or `undefined` when the loop records no response.
 * @throws the error when the run was not aborted and the loop does not repeat the call. The loop then records the part of
 * the response that had arrived.
 */
function abortedResponse(
  run: InferenceRun,
  error: unknown,
  request: CalledRequest,
): InferenceResponse | undefined {
  const partial = fittingPart(run, partialResponseOf(error));
  if (run.checkAbort() !== undefined)
    return run.signals.isHandedOver()
      ? undefined
      : InferenceResponse.of({ ...partial, finishReason: 'aborted' });
  const usage = usageOfFailedCall(run, error, partial, request);
  if (recordFailure(run, error, usage, request)) return undefined;
  if (partial || usage !== Usage.none)
    recordResponse(run, InferenceResponse.of({ content: [], ...partial, usage, finishReason: 'error' }));
  throw withAdvice(error);
}

/** The usage of a failed call, with its cost if the loop knows the price. */
function usageOfFailedCall(
  { loop }: InferenceRun,
  error: unknown,
  partial: InferenceResponse | undefined,
  request: CalledRequest,
): Usage {
  const usage = usageOfFailure(error, partial, request);
  if (usage === Usage.none || loop.cost === undefined) return usage;
  return pricedUsage(
    { usage, modelId: partial?.modelId },
    loop.cost.prices,
    loop.modelIdOf(request.llmConfig),
  );
}

/** The partial response, without its content when the store does not take it. */
function fittingPart(
  { loop }: InferenceRun,
  partial: InferenceResponse | undefined,
): InferenceResponse | undefined {
  if (partial === undefined || excessOf(partial, loop.resultLimits) === undefined) return partial;
  return InferenceResponse.of({ ...partial, content: [] });
}

/** A request, and the fallback whose settings it had before the hooks. */
interface CalledRequest extends InferenceRequest {
  readonly fallback: ReturnType<Fallback['inUse']>;
}

/** A response that was aborted before its usage arrived is billed all the same: its usage is an estimate. */
function withUsage(response: InferenceResponse, request: InferenceRequest): InferenceResponse {
  const usage = usageOrEstimate(response.usage, request, response.content);
  return usage === response.usage ? response : InferenceResponse.of({ ...response, usage });
}

/** Records a failed call that the step repeats. Returns false when the failure ends the execution. */
function recordFailure(run: InferenceRun, thrown: unknown, usage: Usage, request: CalledRequest): boolean {
  const { state, loop } = run;
  const step = state.currentStep;
  if (step === undefined || isAgentStop(thrown)) return false;
  const at = run.now();
  const modelId = loop.modelIdOf(request.llmConfig);
  const call = { step, thrown, usage, at, modelId };
  const mayFallBack = mayRepeatAt(at, call, loop.retry) && !isRepeatedAtOnce(call, loop.retry);
  const fallback = mayFallBack ? loop.fallback?.after(thrown, request.fallback, state, at) : undefined;
  const isRepeated = fallback !== undefined || canBeShorter(run, thrown, request);
  const failure = isRepeated ? failureOf(call, { retryAt: at }) : failureToRepeat(call, loop.retry);
  if (failure) run.advance({ type: 'inferenceFailed', failure, fallback, at });
  return failure !== undefined;
}

function recordResponse(run: InferenceRun, response: InferenceResponse, fingerprint?: string): void {
  run.advance({ type: 'inferred', response, fingerprint, at: run.now() });
}

/** Passes the pieces of a response to the listeners until the call settles. */
function reporterOf(
  run: InferenceRun,
  stepId: StepId,
  call: { readonly isOpen: boolean },
): (delta: InferenceDelta) => void {
  return (delta) => {
    if (call.isOpen && !run.signals.isAbandoned()) run.emit({ type: 'inference-delta', stepId, delta });
  };
}

/**
 * Waits in the process until the loop repeats a failed call of the model, when the pause is short. Returns false when
 * the step waits for something else or for longer; the execution is then suspended.
 */
export async function waitForRetry(run: InferenceRun): Promise<boolean> {
  const { clock, retry } = run.loop;
  const retryAt = run.state.currentStep?.pendingRetry?.retryAt;
  if (retryAt === undefined) return false;
  const delay = retryAt - run.now();
  if (delay > retry.maxPauseSeconds * 1_000) return false;
  await run.checkpointer.save('inference'); // the failed call counts, also after a crash
  const isDue = delay <= 0 || (await pause(clock, delay, run.signals.current));
  if (isDue) run.advance({ type: 'inferenceRetried', at: run.now() });
  else run.checkAbort();
  return true;
}
