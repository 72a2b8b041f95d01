import { isJsonObject } from '../../json.ts';
import type { ProviderOptions, ToolCallPart, ToolResultPart } from './messages.ts';

/** The member of `providerOptions` that holds marks. Drivers do not send it. */
const OWN = 'holdfast';

/** The marks that a driver sets on a call that the provider runs. The result of the call has the same marks. */
export interface CallMarks {
  /** The id of the provider's request for approval. The provider runs the call after a person has approved it. */
  readonly approvalId?: string;
  /** True when the provider returns the result in a later response. */
  readonly isDeferred?: boolean;
}

const NONE: CallMarks = Object.freeze({});

/** Returns the marks of a call, or of the result of a call. */
export function callMarksOf({
  providerOptions,
}: Pick<ToolCallPart | ToolResultPart, 'providerOptions'>): CallMarks {
  const marks = providerOptions?.[OWN];
  if (marks === undefined || !isJsonObject(marks)) return NONE;
  const { approvalId, isDeferred } = marks;
  return {
    ...(typeof approvalId === 'string' && { approvalId }),
    ...(isDeferred === true && { isDeferred }),
  };
}

/** Returns a call with added marks. */
export function withCallMarks(call: ToolCallPart, marks: CallMarks): ToolCallPart {
  if (marks.approvalId === undefined && !marks.isDeferred) return call;
  const own = Object.freeze({ ...callMarksOf(call), ...marks });
  return Object.freeze({ ...call, providerOptions: Object.freeze({ ...call.providerOptions, [OWN]: own }) });
}

/** Returns provider options without marks: the options that a driver sends. */
export function withoutCallMarks(options: ProviderOptions | undefined): ProviderOptions | undefined {
  if (options === undefined || !(OWN in options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== OWN));
}

/** True for a call that waits for the approval of a person before the provider runs it. */
export function needsProviderApproval(call: ToolCallPart): boolean {
  return call.providerExecuted === true && callMarksOf(call).approvalId !== undefined;
}

/** True for a call that the loop handles: the loop runs it, or requests approval for the provider. */
export function isHandledByLoop(call: ToolCallPart): boolean {
  return call.providerExecuted !== true || needsProviderApproval(call);
}
