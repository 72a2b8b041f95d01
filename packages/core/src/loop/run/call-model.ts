import { isReasoning } from '../../state/messages/message-parts.ts';
import type { LlmConfig } from '../../state/inference/llm-config.ts';
import { InferenceResponse } from '../../state/inference/inference-response.ts';
import type { AssistantPart } from '../../state/messages/messages.ts';
import { some } from '../../state/values/frozen-array.ts';
import { driverFailureOf, partialResponseOf } from '../inference/driver-error.ts';
import type { Driver, InferenceDelta, InferenceOptions, InferenceRequest } from '../inference/driver.ts';
import { strictestLike, USUAL_FORM, type RequestForm } from '../inference/request-form.ts';
import { tokensOfStart } from '../inference/token-estimate.ts';
import { withShortResults } from '../sending/short-results.ts';
import { fingerprintOf, sendableRequest, type SendableRequest } from '../sending/sendable.ts';
import { withinGrace } from '../stopping/grace.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { Instant } from '../../clock.ts';
import type { EffectiveRequest } from '../../state/inference/request.ts';
import type { StepperOutcome } from '../steps/stepper.ts';
import type { LoopParts, RunParts } from './loop-parts.ts';

/** The part of a run that a call of a model uses. */
export interface CallingRun {
  readonly loop: LoopParts;
  readonly given: Pick<RunParts, 'runContext' | 'awaitReader'>;
  readonly state: AgentState;
  now(): Instant;
  advance(outcome: StepperOutcome): void;
}

type CallOptions = Pick<InferenceOptions, 'signal' | 'onDelta'>;

/** Returns the request in the form of its provider. */
export function sentRequest(run: CallingRun, request: InferenceRequest): SendableRequest {
  return sentIn(formFor(run, request.llmConfig), run, request);
}

/**
 * Returns the request in the strictest form, after the provider refused another form of it, and records that.
 * @throws the error when it is no refusal of the form, and when the strictest form is the same request.
 */
export function strictestAfter(
  error: unknown,
  sent: SendableRequest,
  run: CallingRun,
  request: InferenceRequest,
  signal: AbortSignal,
): SendableRequest {
  if (!isRefusal(error, signal)) throw error;
  const strictest = sentIn(strictestLike(ownForm(run.loop, request.llmConfig)), run, request);
  if (isSameRequest(strictest, sent)) throw error;
  const effective = { ...effectiveRequest(run, request), form: 'strictest' } as const;
  run.advance({ type: 'requestChanged', request: effective, at: run.now() });
  return strictest;
}

/** Sends a request to the driver. It is not async: another async function would be a twentieth of the memory of a step. */
export function sendRequest(
  run: CallingRun,
  sent: SendableRequest,
  options: CallOptions,
): ReturnType<Driver['infer']> {
  return withinGrace(sendTo(run, sent, options), { signal: options.signal, clock: run.loop.clock });
}

/** The request to record for a step, with the model that the driver names. */
export function effectiveRequest(
  run: Pick<CallingRun, 'loop' | 'state'>,
  request: InferenceRequest,
): EffectiveRequest {
  const { llmConfig, toolChoice } = request;
  const model = llmConfig?.model === undefined ? undefined : run.loop.modelIdOf(llmConfig);
  const form = isRefused(run, llmConfig) ? 'strictest' : undefined;
  return { model, llmConfig, toolChoice, form, shortenedTo: shortenedTo(run, request) };
}

/** The form of the driver, or the strictest one when the model has refused it in the step before. */
function formFor(run: Pick<CallingRun, 'loop' | 'state'>, llmConfig: LlmConfig | undefined): RequestForm {
  const form = ownForm(run.loop, llmConfig);
  return isRefused(run, llmConfig) ? strictestLike(form) : form;
}

/** The form of the driver. */
export function ownForm({ driver }: LoopParts, llmConfig: LlmConfig | undefined): RequestForm {
  return driver.formOf?.(llmConfig) ?? USUAL_FORM;
}

/** True when the model has refused the form of the driver in the step before. */
function isRefused(
  { loop, state }: Pick<CallingRun, 'loop' | 'state'>,
  llmConfig: LlmConfig | undefined,
): boolean {
  const { lastStep } = state;
  if (lastStep?.request?.form !== 'strictest') return false;
  return loop.modelIdOf(state.requestOf(lastStep).llmConfig) === loop.modelIdOf(llmConfig);
}

/**
 * The number of tokens to which the results are shortened, when the model has refused longer ones: in this or the last step,
 * or in an earlier execution.
 */
export function shortenedTo(
  run: Pick<CallingRun, 'loop' | 'state'>,
  request: InferenceRequest,
): number | undefined {
  const { loop, state } = run;
  const { currentStep, lastStep } = state;
  const step = currentStep?.request?.shortenedTo === undefined ? lastStep : currentStep;
  const known = step?.request?.shortenedTo === undefined ? undefined : state.requestOf(step);
  if (known && loop.modelIdOf(known.llmConfig) === loop.modelIdOf(request.llmConfig))
    return known.shortenedTo;
  const most = loop.whenTooLong.includes('shortenResults') && knownLimit(run, request.llmConfig);
  const room = most ? Math.floor(most - tokensOfStart(request)) : 0;
  return room > 0 ? room : undefined;
}

/** The tokens that a request to the model may have, as its refusals in this session have shown. */
export function knownLimit(
  {
    loop,
    state: { contextLimit },
  }: { readonly loop: Pick<LoopParts, 'modelIdOf'>; readonly state: AgentState },
  llmConfig: LlmConfig | undefined,
): number | undefined {
  if (contextLimit === undefined || contextLimit.model !== loop.modelIdOf(llmConfig)) return undefined;
  return contextLimit.maxTokens;
}

function sentIn(form: RequestForm, run: CallingRun, request: InferenceRequest): SendableRequest {
  const { loop, state } = run;
  const maxTokens = shortenedTo(run, request);
  const { messages } = request;
  const sent = maxTokens === undefined ? messages : withShortResults(messages, maxTokens);
  const shorter = sent === messages ? request : { ...request, messages: sent };
  return sendableRequest(shorter, { form, state, model: loop.modelIdOf(request.llmConfig) });
}

function sendTo(
  { loop, state, given }: CallingRun,
  { request, toolNames }: SendableRequest,
  { signal, onDelta }: CallOptions,
): ReturnType<Driver['infer']> {
  const { awaitReader, runContext } = given;
  return loop.driver.infer(request, {
    signal,
    onDelta: onDelta && toolNames.size > 0 ? (delta) => onDelta(namedDelta(delta, toolNames)) : onDelta,
    awaitReader,
    run: { state, runContext },
  });
}

/** Returns the response of a call, with the names of tools that the agent knows. */
export function responseOf(
  { toolNames }: SendableRequest,
  given: Awaited<ReturnType<Driver['infer']>>,
): InferenceResponse {
  const response = InferenceResponse.of(given);
  if (toolNames.size === 0) return response;
  const content = response.content.map((part) => namedPart(part, toolNames));
  return InferenceResponse.of({ ...response, content });
}

/** Returns the fingerprint of the request, for a response with reasoning. */
export function fingerprintFor(sent: SendableRequest, { content }: InferenceResponse): string | undefined {
  return some(content, isReasoning) ? fingerprintOf(sent) : undefined;
}

function namedDelta(delta: InferenceDelta, names: ReadonlyMap<string, string>): InferenceDelta {
  if (delta.type !== 'tool-input') return delta;
  return { ...delta, toolName: names.get(delta.toolName) ?? delta.toolName };
}

function namedPart(part: AssistantPart, names: ReadonlyMap<string, string>): AssistantPart {
  if (part.type !== 'tool-call' && part.type !== 'tool-result') return part;
  const toolName = names.get(part.toolName);
  return toolName === undefined ? part : { ...part, toolName };
}

function isRefusal(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || driverFailureOf(error).kind !== 'invalidRequest') return false;
  return (partialResponseOf(error)?.content.length ?? 0) === 0;
}

function isSameRequest({ request: left }: SendableRequest, { request: right }: SendableRequest): boolean {
  if (left.systemPrompt !== right.systemPrompt || left.tools !== right.tools) return false;
  if (left.messages === right.messages) return true;
  const { length } = left.messages;
  return length === right.messages.length && left.messages.commonLength(right.messages) === length;
}
