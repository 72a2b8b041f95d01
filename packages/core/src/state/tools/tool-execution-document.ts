import type { Instant } from '../../clock.ts';
import {
  isInstant,
  readCount,
  readInstant,
  readJson,
  type DocumentReader,
  type Members,
  type Read,
} from '../../document.ts';
import { isEqualJson, type JsonValue } from '../../json.ts';
import { readAnswer, type Answer } from './answer.ts';
import { readApproval, type Approval } from './approval.ts';
import { OUTCOME_RULES, type ToolOutcome } from './tool-outcome.ts';
import { readNonEmptyUsage, Usage } from '../inference/usage.ts';
import { readWaitings, type Waiting } from '../values/waiting.ts';
import type { ToolCallPart } from '../messages/messages.ts';
import type { Init } from '../values/copy.ts';
import { ToolExecutionId } from '../values/ids.ts';

/** The members of a tool execution. */
export interface ToolExecutionFields {
  readonly id: ToolExecutionId;
  readonly call: ToolCallPart;
  readonly checkedArgs: JsonValue | undefined;
  readonly attempt: number;
  readonly approval: Approval | undefined;
  readonly answer: Answer | undefined;
  readonly startedAt: Instant | undefined;
  readonly completedAt: Instant | undefined;
  readonly outcome: ToolOutcome | undefined;
  readonly usage: Usage;
  readonly progress: JsonValue | undefined;
  readonly waitingInside: readonly Waiting[];
}

/** The fields that a tool execution is created with. */
export type ToolExecutionInit = Init<ToolExecutionFields, 'id' | 'call'>;

/** A call in a document: the call itself, or its id when the response of its step has the call. */
type ToolCallReference = { readonly call: ToolCallPart } | { readonly toolCallId: string };

const NAMES = [
  'id',
  'call',
  'toolCallId',
  'attempt',
  'approval',
  'startedAt',
  'completedAt',
  'outcome',
  'usage',
  'progress',
  'waitingInside',
  'answer',
  'checkedArgs',
] as const;

/** The member names of a stored tool execution. */
export const TOOL_EXECUTION_NAMES: ReadonlySet<string> = new Set(NAMES);

type ToolExecutionDocument = { [Name in (typeof NAMES)[number]]?: unknown };

/** Returns the document of a tool execution, with its call and outcome in the form of its step. */
export function writeToolExecution(
  execution: ToolExecutionFields,
  call: ToolCallReference,
  outcome: object | undefined,
): object {
  const {
    id,
    attempt,
    approval,
    startedAt,
    completedAt,
    usage,
    progress,
    waitingInside,
    answer,
    checkedArgs,
  } = execution;
  const document: ToolExecutionDocument = { id, ...call };
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

const readLaterAttempt: Read<number> = (reader, value) => {
  const attempt = readCount(reader, value);
  return attempt > 1 ? attempt : reader.fail('an attempt above 1, or an omitted attempt', value);
};

/** Reads the members of a tool execution whose call and outcome are read already. */
export function readToolExecution(
  reader: DocumentReader,
  members: Members,
  call: ToolCallPart,
  outcome: ToolOutcome | undefined,
): ToolExecutionInit {
  const { startedAt: start, completedAt: end } = members;
  const startedAt = isInstant(start) ? start : reader.optional(members, 'startedAt', readInstant);
  const completedAt = isInstant(end) ? end : reader.optional(members, 'completedAt', readInstant);
  if ((outcome === undefined) !== (completedAt === undefined))
    reader.fail('an outcome and completedAt together, or neither', members);
  if (startedAt === undefined && outcome !== undefined && OUTCOME_RULES[outcome.type].needsStart)
    reader.fail(`startedAt before an outcome of "${outcome.type}"`, members);
  if (completedAt !== undefined && completedAt < (startedAt ?? 0))
    reader.fail('completedAt at or after startedAt', completedAt);
  const { id, attempt, approval, usage, progress, waitingInside } = members;
  reader.requireVersion(2, members, 'waitingInside');
  if (waitingInside !== undefined && (startedAt === undefined || outcome !== undefined))
    reader.fail('waitingInside only for a running call', members);
  const answer =
    members['answer'] === undefined ? undefined : readAnswerOf(reader, members, startedAt, outcome);
  const { checkedArgs } = members;
  return {
    id: ToolExecutionId.is(id) ? id : reader.required(members, 'id', ToolExecutionId.read),
    call,
    checkedArgs: checkedArgs === undefined ? undefined : readCheckedArgs(reader, members, call),
    attempt: attempt === undefined ? undefined : reader.required(members, 'attempt', readLaterAttempt),
    approval: approval === undefined ? undefined : reader.required(members, 'approval', readApproval),
    answer,
    startedAt,
    completedAt,
    outcome,
    usage: usage === undefined ? undefined : reader.required(members, 'usage', readNonEmptyUsage),
    progress: progress === undefined ? undefined : reader.required(members, 'progress', readJson),
    waitingInside:
      waitingInside === undefined ? undefined : reader.required(members, 'waitingInside', readWaitings),
  };
}

/** Reads arguments that differ from those of the call. */
function readCheckedArgs(reader: DocumentReader, members: Members, call: ToolCallPart): JsonValue {
  reader.requireVersion(2, members, 'checkedArgs');
  const args = reader.required(members, 'checkedArgs', readJson);
  if (isEqualJson(args, call.input)) reader.fail('arguments that differ from those of the call', members);
  return args;
}

/** Reads the answer of a started call. The answer of a call with an outcome has none of its own. */
function readAnswerOf(
  reader: DocumentReader,
  members: Members,
  startedAt: Instant | undefined,
  outcome: ToolOutcome | undefined,
): Answer {
  reader.requireVersion(2, members, 'answer');
  const answer = reader.required(members, 'answer', readAnswer);
  if (startedAt === undefined || members['waitingInside'] !== undefined)
    reader.fail('answer only for a started call that waits for no event', members);
  if ((answer.outcome === undefined) !== (outcome !== undefined))
    reader.fail('one outcome: of the answer, or of the call', members);
  return answer;
}
