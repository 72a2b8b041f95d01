import { HoldfastError } from '../../errors.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import type { Usage } from '../../state/inference/usage.ts';
import { DriverError } from '../inference/driver-error.ts';
import { billedUsage, partialResponseOf } from '../inference/failed-call.ts';
import type { Fallback } from '../inference/fallback.ts';
import { failureOf, failureToRepeat, mayRepeatAt } from '../inference/retry-policy.ts';
import { pricedUsage } from '../stopping/model-prices.ts';
import type { StepId } from '../../state/values/ids.ts';
import { InferenceResponse, isUnfinished } from '../../state/inference/inference-response.ts';
import type { InferenceDelta, InferenceRequest } from '../inference/driver.ts';
import { withinGrace } from '../stopping/grace.ts';
import { repairedMessages } from '../compile/repair-messages.ts';
import type { RunState } from './run-state.ts';
import { nextAction } from '../steps/stepper.ts';

/**
 * Performs the inference of a step, with the hooks around it. Records no response when the run was stopped before the
 * call, or aborted before a response that is worth keeping.
 * @throws the error of the driver or a hook; HoldfastError `DRIVER_FAILED`, `INFERENCE_INVALID`.
 */
export async function infer(run: RunState): Promise<void> {
  const { loop } = run;
  const isFirstCall = run.state.currentStep === run.begunStep;
  if (!isFirstCall && (await run.enforceLimits())) return; // failed calls are billed too
  const fallback = loop.fallback?.inUse(run.state, loop.clock.now());
  let request = requestOf(run, fallback);
  if (loop.hooks.has('beforeInference')) {
    request = await requestAfterHooks(run, request);
    if (!run.mayBegin() || nextAction(run.state).type !== 'infer') return;
  }
  keepRequest(run, request);
  if (loop.hooks.checksRequests) loop.hooks.checkRequest(request, run.context);
  const stepId = run.state.currentStep?.id as StepId;
  if (run.listeners.length > 0) announceStart(run, stepId, request);
  const { signal } = run;
  const call = { isOpen: true };
  const onDelta = run.listeners.length === 0 ? undefined : reporterOf(run, stepId, call);
  let response: InferenceResponse | undefined;
  try {
    const given = loop.driver.infer(request, {
      signal,
      onDelta,
      awaitReader: run.awaitReader,
      run: { state: run.state, runContext: run.runContext },
    });
    response = InferenceResponse.of(await withinGrace(given, { signal, clock: loop.clock }));
    requireFinished(response);
    const kind = run.checkAbort();
    if (kind === 'lost' || (kind === 'yield' && response.finishReason === 'aborted')) return;
  } catch (error) {
    response = abortedResponse(run, error, { ...request, fallback });
    if (response === undefined) return;
  } finally {
    call.isOpen = false;
  }
  if (loop.hooks.has('afterInference')) response = await responseAfterHooks(run, response);
  else recordResponse(run, response);
  if (response.finishReason !== 'error') return;
  throw new HoldfastError('DRIVER_FAILED', 'The model ended its response with an error.', {
    data: { rawFinishReason: response.rawFinishReason },
  });
}

/** @throws DriverError with the response as its `partialResponse`, for a response without a finish reason. */
function requireFinished(response: InferenceResponse): void {
  if (!isUnfinished(response)) return;
  throw new DriverError('network', 'The response of the model ended without a finish reason.', {
    partialResponse: response,
  });
}

function requestOf({ loop, state }: RunState, fallback: LlmConfig | undefined): InferenceRequest {
  return {
    messages: state.currentStep?.input ?? state.messages,
    systemPrompt: state.systemPrompt,
    tools: loop.toolList,
    toolChoice: loop.toolChoice,
    responseFormat: state.responseFormat,
    llmConfig: fallback ? { ...state.llmConfig, ...fallback } : state.llmConfig,
  };
}

/** Records the effective request in the step, unless it equals the settings of the state, which is the usual case. */
function keepRequest(run: RunState, { llmConfig, toolChoice }: InferenceRequest): void {
  const { state, loop } = run;
  const { execution, currentStep } = state;
  const named = llmConfig?.model;
  const model = named === undefined ? undefined : (loop.driver.modelId?.(llmConfig) ?? named);
  const isSaid = model === named && toolChoice === 'auto' && llmConfig === state.llmConfig;
  if (isSaid && currentStep?.request === undefined && execution?.llmConfig === undefined) return;
  run.advance({ type: 'requestChanged', request: { model, llmConfig, toolChoice }, at: run.now() });
}

function announceStart(
  run: RunState,
  stepId: StepId,
  { messages, llmConfig, toolChoice }: InferenceRequest,
): void {
  const model = run.loop.driver.modelId?.(llmConfig) ?? llmConfig?.model;
  const request = Object.freeze({ model, llmConfig, toolChoice });
  run.emit({ type: 'inference-started', stepId, messageCount: messages.length, request });
}

/** The request after the hooks, with repaired messages. Changed messages become the input of the step. */
async function requestAfterHooks(run: RunState, original: InferenceRequest): Promise<InferenceRequest> {
  let request = original;
  for (const hook of run.loop.hooks.at('beforeInference')) {
    if (run.isAbandoned()) break;
    const change = await run.callHook(hook, 'beforeInference', request);
    if (change?.state) await run.changeBeforeCall(change.state);
    request = change?.request ?? request;
  }
  if (request.messages === original.messages) return request;
  const input = repairedMessages(request.messages, original.messages);
  run.advance({ type: 'inputChanged', input, at: run.now() });
  return { ...request, messages: input };
}

/** Calls AfterInference hooks. The response is recorded even when a hook throws, because it was paid for. */
async function responseAfterHooks(run: RunState, answer: InferenceResponse): Promise<InferenceResponse> {
  let response = answer;
  try {
    for (const hook of run.loop.hooks.at('afterInference')) {
      if (run.isAbandoned()) break;
      const change = await run.callHook(hook, 'afterInference', response);
      if (change?.state) run.changeByHook(change.state);
      response = change?.response ?? response;
    }
  } finally {
    recordResponse(run, response);
  }
  return response;
}

/**
 * Returns the part of the response that had arrived before an abort, or `undefined` when the loop records no response.
 * @throws the error when the run was not aborted and the loop does not repeat the call. The loop then records the part of
 * the response that had arrived.
 */
function abortedResponse(
  run: RunState,
  error: unknown,
  request: CalledRequest,
): InferenceResponse | undefined {
  const partial = partialResponseOf(error);
  if (run.checkAbort() !== undefined)
    return run.isHandedOver() ? undefined : InferenceResponse.of({ ...partial, finishReason: 'aborted' });
  if (recordFailure(run, { thrown: error, partial }, request)) return undefined;
  if (partial) recordResponse(run, InferenceResponse.of({ ...partial, finishReason: 'error' }));
  throw error;
}

/** A request, and the fallback whose settings it had before the hooks. */
interface CalledRequest extends InferenceRequest {
  readonly fallback: ReturnType<Fallback['inUse']>;
}

/** The error of a failed call, and the part of the response that had arrived. */
interface BrokenCall {
  readonly thrown: unknown;
  readonly partial: InferenceResponse | undefined;
}

/** Records a failed call that the step repeats. Returns false when the failure ends the execution. */
function recordFailure(run: RunState, failed: BrokenCall, request: CalledRequest): boolean {
  const { state, loop } = run;
  const step = state.currentStep;
  const { thrown } = failed;
  const { llmConfig, fallback: used } = request;
  if (step === undefined || isAgentStop(thrown)) return false;
  const at = run.now();
  const modelId = loop.driver.modelId?.(llmConfig) ?? llmConfig?.model;
  const call = { step, thrown, usage: failedUsage(run, failed, llmConfig), at, modelId };
  const mayRepeat = mayRepeatAt(at, call, loop.retry);
  const fallback = mayRepeat ? loop.fallback?.after(thrown, used, state, at) : undefined;
  const failure = fallback ? failureOf(call, { retryAt: at }) : failureToRepeat(call, loop.retry);
  if (failure) run.advance({ type: 'inferenceFailed', failure, fallback, at });
  return failure !== undefined;
}

/** The usage that is billed for a failed call, as far as it is known, with its cost. */
function failedUsage(
  { loop }: RunState,
  { thrown, partial }: BrokenCall,
  llmConfig: LlmConfig | undefined,
): Usage {
  const response = { usage: billedUsage(thrown, partial), modelId: partial?.modelId };
  const { cost } = loop;
  return cost ? pricedUsage(response, cost.prices, cost.modelIdOf?.(llmConfig)) : response.usage;
}

function recordResponse(run: RunState, response: InferenceResponse): void {
  run.advance({ type: 'inferred', response, at: run.now() });
}

/** Passes the pieces of a response to the listeners until the call settles. */
function reporterOf(
  run: RunState,
  stepId: StepId,
  call: { readonly isOpen: boolean },
): (delta: InferenceDelta) => void {
  return (delta) => {
    if (call.isOpen && !run.isAbandoned()) run.emit({ type: 'inference-delta', stepId, delta });
  };
}
