import { generateId } from '@ai-sdk/provider-utils';
import { Usage } from '@holdfast/core';
import type { InferenceResponse } from '@holdfast/core/driver';
import type { ObservedCall } from '../call/observed-call.ts';
import type { TelemetryDispatcher } from './dispatcher.ts';
import type { TelemetryEvent } from './integration.ts';
import { contentEvent, promptEvent, toolsEvent, usageEvent } from './sdk-content.ts';
import type { OpenOperation } from './tracing-channel.ts';
import { endEvent, stepEvent, type StepEvent } from './step-events.ts';

const NO_CONTEXT = { runtimeContext: {}, toolsContext: {} };

interface OpenStep {
  readonly id: string;
  readonly call: ObservedCall;
  readonly event: TelemetryEvent;
  readonly operation: OpenOperation;
  readonly startedAt: number;
  readonly toolOutputs: TelemetryEvent[];
  response?: InferenceResponse;
  performance?: TelemetryEvent;
  error?: unknown;
}

/** A call of a tool. */
export interface TracedToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** The telemetry of one run: its events have one `callId`. */
export class AgentTrace {
  readonly callId = `call-${generateId()}`;
  private readonly dispatcher: TelemetryDispatcher;
  private readonly steps: StepEvent[] = [];
  private usage = Usage.none;
  private isStarted = false;
  private hasEnded = false;
  private operation: OpenOperation | undefined;
  private executionId: string | undefined;
  private step: OpenStep | undefined;

  constructor(dispatcher: TelemetryDispatcher) {
    this.dispatcher = dispatcher;
  }

  /** True for the execution of this run. A subagent inside the run has another execution, and its own loop. */
  isOf(executionId: string | undefined): boolean {
    this.executionId ??= executionId;
    return executionId !== undefined && this.executionId === executionId;
  }

  /** Begins the run with its first call of a model or a tool. Without a call, the run begins with a tool. */
  private start(call: ObservedCall | undefined, isStreamed: boolean): void {
    if (this.isStarted) return;
    this.isStarted = true;
    const { callId } = this;
    const operationId = isStreamed ? 'ai.streamText' : 'ai.generateText';
    const event = { callId, operationId, ...(call && startEvent(call)), ...NO_CONTEXT };
    this.operation = this.dispatcher.open(isStreamed ? 'streamText' : 'generateText', event);
    this.dispatcher.emit('onStart', event);
  }

  /** Announces an attempt at a call of a model, and makes it. The first attempt of a step begins the step. */
  async callModel<T>(
    { stepId, isStreamed }: { readonly stepId: string; readonly isStreamed: boolean },
    call: ObservedCall,
    execute: () => PromiseLike<T>,
  ): Promise<T> {
    this.start(call, isStreamed);
    if (this.step?.id !== stepId) this.beginStep(stepId, call);
    const event = { callId: this.callId, ...callEvent(call) };
    return this.inside(() => this.dispatcher.callModel({ event, execute }));
  }

  /** Does work inside the open step, or inside the run. */
  private inside<T>(work: () => T): T {
    const operation = this.step?.operation ?? this.operation;
    return operation ? operation.run(work) : work();
  }

  private beginStep(id: string, call: ObservedCall): void {
    this.endStep();
    const { callId, steps } = this;
    const event = {
      callId,
      stepNumber: steps.length,
      steps: [...steps],
      ...stepStartEvent(call),
      ...NO_CONTEXT,
    };
    const operation = this.inside(() => this.dispatcher.open('step', { callId, stepNumber: steps.length }));
    this.step = { id, call, event, operation, startedAt: performance.now(), toolOutputs: [] };
    this.dispatcher.emit('onStepStart', event);
    this.dispatcher.emit('onLanguageModelCallStart', { callId, ...callEvent(call) });
  }

  /** Announces the response of the open step. */
  respond(response: InferenceResponse): void {
    const { step, callId } = this;
    if (step === undefined) return;
    const { provider, modelId } = step.call.model;
    step.response = response;
    step.performance = performanceOf(response.usage, performance.now() - step.startedAt);
    if (response.finishReason === 'aborted') return;
    this.dispatcher.emit('onLanguageModelCallEnd', {
      callId,
      provider,
      modelId: response.modelId ?? modelId,
      finishReason: response.finishReason,
      usage: usageEvent(response.usage),
      content: contentEvent(response.content),
      responseId: response.responseId ?? generateId(),
      ...(response.providerMetadata && { providerMetadata: response.providerMetadata }),
      performance: step.performance,
    });
  }

  /** Keeps the error of a failed call. The loop may repeat the call. */
  fail(error: unknown): void {
    if (this.step) this.step.error = error;
  }

  /** Announces a call of a tool, and makes it. */
  async callTool<T>(toolCall: TracedToolCall, execute: () => PromiseLike<T>): Promise<T> {
    this.start(undefined, false);
    const startedAt = performance.now();
    const { callId, step } = this;
    const call = { type: 'tool-call', ...toolCall };
    const event = { callId, toolCall: call, messages: step?.event['messages'] ?? [], toolContext: undefined };
    this.dispatcher.emit('onToolExecutionStart', event);
    const end = (outcome: TelemetryEvent): void => {
      const toolOutput = { ...outcome, ...toolCall, dynamic: false };
      step?.toolOutputs.push(toolOutput);
      const toolExecutionMs = performance.now() - startedAt;
      this.dispatcher.emit('onToolExecutionEnd', { ...event, toolOutput, toolExecutionMs });
    };
    try {
      const work = { event: { ...event, toolCallId: toolCall.toolCallId }, execute };
      const output = await this.inside(() => this.dispatcher.callTool(work));
      end({ type: 'tool-result', output });
      return output;
    } catch (error) {
      end({ type: 'tool-error', error });
      throw error;
    }
  }

  /** Announces that the run has completed, or waits. A step without a response ends with an error. */
  end(): void {
    const { step } = this;
    if (step && (step.response === undefined || step.response.finishReason === 'aborted')) {
      if (step.error === undefined || isAbort(step.error)) this.abort(step.error);
      else this.endWithError(step.error);
    } else if (this.mayEnd()) {
      this.endStep();
      this.dispatcher.emit('onEnd', endEvent(this.callId, this.steps, usageEvent(this.usage)));
      this.operation?.end();
    }
  }

  /** Announces that the run was aborted. */
  abort(reason: unknown): void {
    const { callId, steps } = this;
    if (!this.mayEnd()) return;
    this.dispatcher.emit('onAbort', { callId, steps, reason });
    this.endOperations(reason);
  }

  /** Announces that the run failed. Default: the error of the last call of a model. */
  endWithError(error: unknown = this.step?.error ?? new Error('The execution failed.')): void {
    if (!this.mayEnd()) return;
    if (this.step) this.dispatcher.emit('onStepError', { ...this.step.event, error });
    this.dispatcher.emit('onError', { callId: this.callId, error });
    this.endOperations(error);
  }

  private endOperations(error: unknown): void {
    this.step?.operation.end(error);
    this.operation?.end(error);
  }

  /** True once, for a run that has begun. */
  private mayEnd(): boolean {
    const mayEnd = this.isStarted && !this.hasEnded;
    this.hasEnded = true;
    return mayEnd;
  }

  private endStep(): void {
    const { step, callId, steps } = this;
    this.step = undefined;
    if (step?.response === undefined) return;
    const { response, toolOutputs, performance: figures = {}, startedAt, call } = step;
    this.usage = this.usage.plus(response.usage);
    const stepTimeMs = performance.now() - startedAt;
    const { model } = call;
    const facts = {
      callId,
      stepNumber: steps.length,
      model,
      response,
      toolOutputs,
      stepTimeMs,
      performance: figures,
    };
    const event = stepEvent(facts);
    steps.push(event);
    this.dispatcher.emit('onStepEnd', event);
    step.operation.end();
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

const SETTINGS = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
] as const;

function settingsOf({ options }: ObservedCall): TelemetryEvent {
  return Object.fromEntries(SETTINGS.map((name) => [name, options[name]]));
}

function callEvent(call: ObservedCall): TelemetryEvent {
  const { model, options } = call;
  return { ...model, ...promptEvent(options.prompt), tools: toolsEvent(options.tools), ...settingsOf(call) };
}

function startEvent(call: ObservedCall): TelemetryEvent {
  const { providerOptions, headers, toolChoice } = call.options;
  return { ...callEvent(call), maxRetries: call.maxRetries, providerOptions, headers, toolChoice };
}

function stepStartEvent(call: ObservedCall): TelemetryEvent {
  const { prompt, tools, toolChoice, providerOptions } = call.options;
  return {
    ...call.model,
    ...promptEvent(prompt),
    tools: toolsEvent(tools),
    toolChoice,
    providerOptions,
    promptMessages: prompt,
    stepTools: toolsEvent(tools),
    stepToolChoice: toolChoice,
  };
}

function performanceOf({ outputTokens, totalTokens }: Usage, responseTimeMs: number): TelemetryEvent {
  const perSecond = (tokens: number): number => (responseTimeMs > 0 ? (tokens * 1000) / responseTimeMs : 0);
  return {
    responseTimeMs,
    effectiveOutputTokensPerSecond: perSecond(outputTokens ?? 0),
    outputTokensPerSecond: undefined,
    inputTokensPerSecond: undefined,
    effectiveTotalTokensPerSecond: perSecond(totalTokens),
    timeToFirstOutputMs: undefined,
  };
}
