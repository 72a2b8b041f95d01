import type { Instant } from '../clock.ts';
import {
  readAmount,
  readCount,
  readInstant,
  readOneOf,
  readString,
  shapeReader,
  type Read,
} from '../document.ts';
import { compact } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import { STOP_REASONS, type StopReason } from '../state/execution/continuation.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../state/execution/status.ts';
import { readUsageFields, type UsageFields } from '../state/inference/usage.ts';
import { executionIdOf } from '../state/messages/message-tags.ts';

/** An execution of a session, in one small row. */
export interface ExecutionSummary {
  readonly executionId: string;
  readonly status: ExecutionStatus;
  readonly stopReason?: StopReason;
  readonly startedAt: Instant;
  /** When the execution ended; absent for one that has not, or that was discarded. */
  readonly completedAt?: Instant;
  readonly steps: number;
  /** Seconds of work. Time without a worker or in suspension does not count. */
  readonly seconds: number;
  /** The tokens and the cost in US dollars, as far as they were reported. */
  readonly usage: UsageFields;
  /** The message that the execution responded to first; absent when the conversation no longer has one. */
  readonly firstMessageId?: string;
  readonly lastMessageId?: string;
}

/** Returns the summary of a state's execution; `undefined` without one. */
export function executionSummary(state: AgentState): ExecutionSummary | undefined {
  const { execution, stopReason } = state;
  if (execution === undefined) return undefined;
  const { executionId, status, startedAt, completedAt, stepCount, workedSeconds, usage } = execution;
  return compact({
    executionId,
    status,
    stopReason,
    startedAt,
    completedAt,
    steps: stepCount,
    seconds: workedSeconds,
    usage: usage.toJSON(),
    ...messagesOf(state, executionId),
  });
}

/**
 * Returns the ids of the first and the last message of an execution. It reads backwards from the end of the
 * conversation, so its cost does not grow with the history before the execution.
 */
function messagesOf(
  { messages }: AgentState,
  executionId: string,
): Pick<ExecutionSummary, 'firstMessageId' | 'lastMessageId'> {
  let [first, last]: [string | undefined, string | undefined] = [undefined, undefined];
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index);
    const tag = message && executionIdOf(message);
    const isUntaggedUserMessage = tag === undefined && message?.role === 'user';
    if (message === undefined || (tag !== executionId && !isUntaggedUserMessage)) break;
    first = message.id;
    last ??= message.id;
  }
  return compact({ firstMessageId: first, lastMessageId: last });
}

export const readExecutionSummary: Read<ExecutionSummary> = shapeReader({
  executionId: readString,
  status: readOneOf(EXECUTION_STATUSES),
  'stopReason?': readOneOf(STOP_REASONS),
  startedAt: readInstant,
  'completedAt?': readInstant,
  steps: readCount,
  seconds: readAmount,
  usage: readUsageFields,
  'firstMessageId?': readString,
  'lastMessageId?': readString,
});
