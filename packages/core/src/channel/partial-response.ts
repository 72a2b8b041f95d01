import type { InferenceDelta } from '../loop/inference/driver.ts';
import type { AgentState } from '../state/agent-state.ts';

/** The part of a response that has arrived. Each of its parts is one delta, with all the text so far. */
export interface PartialResponse {
  readonly stepId: string;
  /** The number of the attempt at the step, from 1. */
  readonly attempt: number;
  readonly parts: readonly InferenceDelta[];
}

/** Names the response that a delta belongs to. */
export type ResponseName = Pick<PartialResponse, 'stepId' | 'attempt'>;

/** Returns the name of the response that the model writes now; `undefined` when the open step needs none. */
export function expectedResponse({ currentStep }: AgentState): ResponseName | undefined {
  if (currentStep === undefined || currentStep.response !== undefined) return undefined;
  const retried = currentStep.inferenceFailures.filter(({ retriedAt }) => retriedAt !== undefined);
  return { stepId: currentStep.id, attempt: retried.length + 1 };
}

export function isSameResponse(one: ResponseName | undefined, other: ResponseName | undefined): boolean {
  return one !== undefined && one.stepId === other?.stepId && one.attempt === other.attempt;
}

/** Returns the partial response with a delta at the end of its part. A delta of another response begins a new one. */
export function withDelta(
  partial: PartialResponse | undefined,
  { stepId, attempt }: ResponseName,
  delta: InferenceDelta,
): PartialResponse {
  if (partial === undefined || !isSameResponse(partial, { stepId, attempt }))
    return { stepId, attempt, parts: [delta] };
  const { parts } = partial;
  const index = parts.findIndex(({ type, id }) => type === delta.type && id === delta.id);
  const part = parts[index];
  if (part === undefined) return { ...partial, parts: [...parts, delta] };
  return { ...partial, parts: parts.with(index, { ...part, text: part.text + delta.text }) };
}
