import {
  answer,
  answerError,
  approve,
  deny,
  pendingApprovals,
  pendingQuestions,
  type AgentState,
  type SessionAction,
  type ToolExecution,
} from '@holdfast/core';
import { isSameValue } from '../json/is-same-value.ts';
import { approvalIdOfCall, callIdOf } from '../messages/call-ids.ts';
import { ChatRequestError } from './request/chat-error.ts';
import type { ChatUser } from './chat-options.ts';
import type { IncomingAnswer, IncomingDecision } from './request/incoming.ts';

/** A decision or an answer as an action, with the call that waits for it. */
export interface AnsweringAction {
  readonly call: ToolExecution;
  readonly action: SessionAction;
  /** True for an approval or a denial. */
  readonly isDecision: boolean;
}

/** The decisions and answers of a page. */
interface IncomingAnswers {
  readonly decisions: readonly IncomingDecision[];
  readonly answers: readonly IncomingAnswer[];
}

/**
 * Returns the actions for the decisions and answers that a call of the state waits for. The others have no effect.
 * @throws ChatRequestError `CHAT_CHANGED` for a decision with other arguments than those of its call;
 * `CHAT_BODY_TOO_LARGE` for an answer of too many values.
 */
export function answeringActions(
  state: AgentState,
  { decisions, answers }: IncomingAnswers,
  { owner, by = owner }: ChatUser,
): readonly AnsweringAction[] {
  const decided = pendingApprovals(state).flatMap((call) => {
    const id = approvalIdOfCall(state, call);
    const decision = decisions.find(({ approvalId }) => approvalId === id);
    return decision ? [{ call, action: decidingAction(call, decision, by), isDecision: true }] : [];
  });
  const answered = pendingQuestions(state).flatMap((call) => {
    const id = callIdOf(state, call);
    const given = answers.find(({ toolCallId }) => toolCallId === id);
    return given ? [{ call, action: answeringAction(call, given, by), isDecision: false }] : [];
  });
  return [...decided, ...answered];
}

/** True while a call of the list waits. */
export function waitsForAny(state: AgentState, calls: readonly ToolExecution[]): boolean {
  const waiting = new Set([...pendingApprovals(state), ...pendingQuestions(state)].map(({ id }) => id));
  return calls.some(({ id }) => waiting.has(id));
}

function decidingAction(
  call: ToolExecution,
  { isApproved, reason, input }: IncomingDecision,
  by: string,
): SessionAction {
  if (input !== undefined && !isSameValue(input, call.args))
    throw new ChatRequestError('CHAT_CHANGED', 'The call has other arguments. Load the messages again.');
  return (isApproved ? approve : deny)(call, { by, ...(reason !== undefined && { reason }) });
}

function answeringAction(call: ToolExecution, { read }: IncomingAnswer, by: string): SessionAction {
  const result = read();
  return 'error' in result ? answerError(call, result.error, { by }) : answer(call, result.value, { by });
}
