import { textOf, type AgentState, type ExecutionStatus, type ListedSession } from '@holdfast/core';
import { isTerminal } from '@holdfast/core/engine';

/** A session in the list. */
export interface SessionSummary {
  readonly sessionId: string;
  /** The beginning of its first message. */
  readonly title: string;
  readonly version: number;
  readonly executionStatus: ExecutionStatus | undefined;
  readonly updatedAt: number;
  readonly isFork: boolean;
  /** Its execution is neither over nor suspended: a worker has it, or takes it when the claim of a dead one expires. */
  readonly isRunning: boolean;
}

/** The label of a copied session. */
export const FORK_LABEL = 'fork';

export const NEW_TITLE = 'New session';

/** Returns a listed session as the page shows it. */
export function toSessionSummary(listed: ListedSession): SessionSummary {
  const { sessionId, title = NEW_TITLE, version, executionStatus, updatedAt, labels } = listed;
  const isFork = labels?.[FORK_LABEL] !== undefined;
  const isRunning = isGoingOn(executionStatus);
  return { sessionId, title, version, executionStatus, updatedAt, isFork, isRunning };
}

/** True while an execution needs a worker. */
export function isGoingOn(status: ExecutionStatus | undefined): boolean {
  return status !== undefined && status !== 'suspended' && !isTerminal(status);
}

/** The beginning of the first message of a user. */
export function titleOf({ messages }: AgentState): string | undefined {
  const first = messages.toArray().find(({ role }) => role === 'user');
  return (first && shortened(textOf(first), 80)) || undefined;
}

/** One line of at most so many characters. */
export function shortened(text: string, longest: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().toWellFormed();
  return line.length > longest
    ? `${line
        .slice(0, longest - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line;
}
