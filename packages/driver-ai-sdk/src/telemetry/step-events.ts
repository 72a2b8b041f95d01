import type { InferenceResponse } from '@holdfast/core/driver';
import type { CalledModel } from '../values/called-model.ts';
import type { TelemetryEvent } from './integration.ts';
import { contentEvent, usageEvent } from './sdk-content.ts';

/** The facts about a closed step. */
export interface StepFacts {
  readonly callId: string;
  readonly stepNumber: number;
  readonly model: CalledModel;
  readonly response: InferenceResponse;
  /** The results and errors of the tools that the run executed. */
  readonly toolOutputs: readonly TelemetryEvent[];
  readonly stepTimeMs: number;
  readonly performance: TelemetryEvent;
}

/** The event of a closed step. */
export type StepEvent = TelemetryEvent & { readonly content: readonly TelemetryEvent[] };

/** Returns the event of a closed step, which is also an entry of `steps`. */
export function stepEvent(facts: StepFacts): StepEvent {
  const { response, toolOutputs, model, performance, stepTimeMs, callId, stepNumber } = facts;
  const content = [...contentEvent(response.content), ...toolOutputs];
  return {
    callId,
    stepNumber,
    model,
    runtimeContext: {},
    toolsContext: {},
    content,
    ...contentViews(content),
    text: response.text,
    reasoningText: response.reasoning === '' ? undefined : response.reasoning,
    finishReason: response.finishReason,
    rawFinishReason: response.rawFinishReason,
    usage: usageEvent(response.usage),
    performance: { ...performance, stepTimeMs },
    warnings: [],
    request: {},
    response: { id: response.responseId, modelId: response.modelId ?? model.modelId, messages: [] },
    providerMetadata: response.providerMetadata,
  };
}

/** Returns the event at the end of a run. */
export function endEvent(callId: string, steps: readonly StepEvent[], total: TelemetryEvent): TelemetryEvent {
  const finalStep = steps.at(-1);
  const content = steps.flatMap((step) => step.content);
  const { reasoning } = contentViews(finalStep?.content ?? []);
  return {
    ...finalStep,
    callId,
    content,
    ...contentViews(content),
    reasoning,
    usage: total,
    totalUsage: total,
    responseMessages: [],
    steps,
    finalStep,
  };
}

function contentViews(content: readonly TelemetryEvent[]): TelemetryEvent {
  const partsOf = (type: string): readonly TelemetryEvent[] =>
    content.filter((part) => part['type'] === type);
  const calls = partsOf('tool-call');
  const results = partsOf('tool-result');
  return {
    reasoning: partsOf('reasoning'),
    files: partsOf('file').map((part) => part['file']),
    sources: partsOf('source'),
    toolCalls: calls,
    staticToolCalls: calls,
    dynamicToolCalls: [],
    toolResults: results,
    staticToolResults: results,
    dynamicToolResults: [],
  };
}
