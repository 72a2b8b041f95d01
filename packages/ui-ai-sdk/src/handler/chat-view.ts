import type { AgentState, ErrorRecord, Waiting } from '@holdfast/core';
import type { SessionView } from '@holdfast/core/channel';
import type { ExecutionSummary } from '@holdfast/core/store';
import type { UIMessage } from 'ai';
import { executionIdIn } from '../messages/execution-id.ts';
import { toUIMessages, type ToUIMessagesOptions } from '../messages/to-ui-messages.ts';

/** How a chat shows its messages. */
export type MessageOptions = Omit<ToUIMessagesOptions, 'partial' | 'executions'>;

/** The summaries of earlier executions, by id. */
export type Summaries = ReadonlyMap<string, ExecutionSummary>;

/** Returns the UI messages of a view. All readers of a view share them, unless they have summaries of executions. */
export type MessagesOf = (view: SessionView, executions?: Summaries) => readonly UIMessage[];

/** Creates the function that returns the UI messages of views. */
export function messagesOfViews(options: MessageOptions): MessagesOf {
  const known = new WeakMap<SessionView, readonly UIMessage[]>();
  return (view, executions) => {
    const { session, partial } = view;
    if (executions) return toUIMessages(session.state, { ...options, partial, executions });
    const messages = known.get(view) ?? toUIMessages(session.state, { ...options, partial });
    known.set(view, messages);
    return messages;
  };
}

/** Returns the last message of an execution. */
export function messageOfExecution(
  messages: readonly UIMessage[],
  executionId: string,
): UIMessage | undefined {
  const isOfExecution = ({ id, role }: UIMessage): boolean =>
    role === 'assistant' && executionIdIn(id) === executionId;
  return messages.findLast(isOfExecution);
}

/** True while the response is in progress: workers advance it, or it waits for something that comes by itself. */
export function isInProgress(state: AgentState): boolean {
  return state.hasActiveExecution && !waitsForPerson(state);
}

/** True when an execution only continues after a decision, an answer, a message or `retry()`. */
function waitsForPerson({ status, execution }: AgentState): boolean {
  if (status !== 'suspended') return false;
  const waiting = execution?.waiting ?? [];
  return waiting.some(
    (each) =>
      each.type === 'approval' || each.type === 'answer' || each.type === 'input' || isManualRetry(each),
  );
}

/** True when an execution has failed, or only continues after `retry()`. */
export function hasFailed(state: AgentState): boolean {
  return state.status === 'failed' || errorToRetry(state) !== undefined;
}

/** Returns the error for which an execution waits for `retry()`, such as one about an invalid API key. */
export function errorToRetry({ status, execution }: AgentState): ErrorRecord | undefined {
  if (status !== 'suspended') return undefined;
  return execution?.waiting.find(isManualRetry)?.error;
}

function isManualRetry(waiting: Waiting): waiting is Extract<Waiting, { readonly type: 'retry' }> {
  return waiting.type === 'retry' && waiting.until === undefined;
}
