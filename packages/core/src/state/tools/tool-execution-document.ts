import {
  byClass,
  readCount,
  readInstant,
  readJson,
  shapeOf,
  since,
  type DocumentReader,
  type Fields,
  type Members,
  type Read,
} from '../../document.ts';
import { isEqualJson } from '../../json.ts';
import { readNonEmptyUsage, Usage } from '../inference/usage.ts';
import type { ToolCallPart } from '../messages/messages.ts';
import type { Init } from '../values/copy.ts';
import { ToolExecutionId } from '../values/ids.ts';
import { readWaitings } from '../values/waiting.ts';
import { readAnswer } from './answer.ts';
import { readApproval } from './approval.ts';
import { OUTCOME_RULES, type ToolOutcome } from './tool-outcome.ts';

const readLaterAttempt: Read<number> = (reader, value) => {
  const attempt = readCount(reader, value);
  return attempt > 1 ? attempt : reader.fail('an attempt above 1, or an omitted attempt', value);
};

/** The members of a stored tool execution. Its step reads the call and the outcome. */
export const TOOL_EXECUTION = shapeOf({
  id: ToolExecutionId.read,
  'call?': byClass,
  'toolCallId?': byClass,
  'attempt?': readLaterAttempt,
  'approval?': readApproval,
  'startedAt?': readInstant,
  'completedAt?': readInstant,
  'outcome?': byClass,
  'usage?': readNonEmptyUsage,
  'progress?': readJson,
  'waitingInside?': since(2, readWaitings),
  'answer?': since(2, readAnswer),
  'checkedArgs?': since(2, readJson),
});

export type ToolExecutionFields = Fields<typeof TOOL_EXECUTION, 'attempt' | 'usage' | 'waitingInside'> & {
  readonly call: ToolCallPart;
  readonly outcome: ToolOutcome | undefined;
};

export type ToolExecutionInit = Init<ToolExecutionFields, 'id' | 'call'>;

/** A call in a document: the call itself, or its id when the response of its step has the call. */
type ToolCallReference = { readonly call: ToolCallPart } | { readonly toolCallId: string };

type ToolExecutionDocument = { -readonly [Name in keyof ToolExecutionInit]?: unknown };

/** Returns the document of a tool execution, with its call and outcome in the form of its step. */
export function writeToolExecution(
  execution: ToolExecutionFields,
  call: ToolCallReference,
  outcome: object | undefined,
): object {
  const { attempt, approval, startedAt, completedAt, usage, progress, waitingInside } = execution;
  const { answer, checkedArgs } = execution;
  const document: ToolExecutionDocument = { id: execution.id, ...call };
  if (attempt !== 1) document.attempt = attempt;
  if (approval !== undefined) document.approval = approval;
  if (startedAt !== undefined) document.startedAt = startedAt;
  if (completedAt !== undefined) document.completedAt = completedAt;
  if (outcome !== undefined) document.outcome = outcome;
  if (usage !== Usage.none) document.usage = usage.toJSON();
  if (progress !== undefined) document.progress = progress;
  if (waitingInside.length > 0) document.waitingInside = waitingInside;
  if (answer !== undefined) document.answer = answer;
  if (checkedArgs !== undefined) document.checkedArgs = checkedArgs;
  return document;
}

/** True for a document with only the id, the call, the times and the outcome, which most documents have. */
export function isCommonDocument(
  members: Members,
  { startedAt, completedAt, outcome }: ToolExecutionFields,
): boolean {
  let count = 2;
  if (startedAt !== undefined) count++;
  if (completedAt !== undefined) count++;
  if (outcome !== undefined) count++;
  for (const _ in members) count--;
  return count === 0;
}

/** Fails for members of a tool execution that exclude one another. */
export function requireConsistent(
  reader: DocumentReader,
  members: Members,
  { call, startedAt, completedAt, outcome, answer, waitingInside, checkedArgs }: ToolExecutionFields,
): void {
  if ((outcome === undefined) !== (completedAt === undefined))
    reader.fail('an outcome and completedAt together, or neither', members);
  if (startedAt === undefined && outcome !== undefined && OUTCOME_RULES[outcome.type].needsStart)
    reader.fail(`startedAt before an outcome of "${outcome.type}"`, members);
  if (completedAt !== undefined && completedAt < (startedAt ?? 0))
    reader.fail('completedAt at or after startedAt', completedAt);
  const isWaiting = waitingInside.length > 0;
  if (isWaiting && (startedAt === undefined || outcome !== undefined))
    reader.fail('waitingInside only for a running call', members);
  if (checkedArgs !== undefined && isEqualJson(checkedArgs, call.input))
    reader.fail('arguments that differ from those of the call', members);
  if (answer === undefined) return;
  if (startedAt === undefined || isWaiting)
    reader.fail('answer only for a started call that waits for no event', members);
  if ((answer.outcome === undefined) !== (outcome !== undefined))
    reader.fail('one outcome: of the answer, or of the call', members);
}
