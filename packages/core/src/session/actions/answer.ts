import { mustBe, type OptionChecks } from '../../arguments.ts';
import { systemClock, type Clock, type Instant } from '../../clock.ts';
import { HoldfastError, invalidArgument } from '../../errors.ts';
import { compact, toJsonValue, type JsonValue } from '../../json.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import { checkedInTime } from '../../loop/tools/tool-arguments.ts';
import { withTimeoutsApplied } from '../../loop/tools/waiting.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolOutcome } from '../../state/tools/tool-outcome.ts';
import { requireState } from '../../state/require-state.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import {
  callIn,
  notWaiting,
  toolOf,
  waitingCalls,
  withCallChanged,
  type RequestedCall,
} from './waiting-calls.ts';

/** An answer to a call of a tool without `execute`. It has a `value` or an `error`. */
export interface GivenAnswer {
  /** The id of the tool execution, as the `waiting` of the execution names it. */
  readonly toolExecutionId: string;
  /** The value of the call, which must fit the tool's `outputSchema`. */
  readonly value?: JsonValue;
  /** The reason why there is no value, which the model reads. The call fails. */
  readonly error?: string;
  /** The person or system that answered: any name or id that the application uses. */
  readonly by?: string;
}

export const ANSWER_CHECKS: OptionChecks<GivenAnswer> = {
  toolExecutionId: mustBe.required(mustBe.string),
  value: mustBe.anything,
  error: mustBe.string,
  by: mustBe.string,
};

/** Returns an answer that has a value or an error. @throws TypeError `ARGUMENT_INVALID` for any other answer. */
export function requireOneResult<T extends GivenAnswer>(given: T): T {
  if ((given.value === undefined) !== (given.error === undefined)) return given;
  throw invalidArgument('An answer has either a value or an error. Pass null for an empty value.', TypeError);
}

/**
 * Returns the tool executions that wait for an answer, those of subagents included.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not an AgentState.
 */
export function pendingQuestions(state: AgentState): readonly ToolExecution[] {
  return waitingCalls(state, 'pendingQuestions', ({ isAwaitingAnswer }) => isAwaitingAnswer);
}

/**
 * Returns the state with an answer that fits the `outputSchema` of its tool. The next run of the loop records the
 * outcome of the call. When no other wait remains, the execution resumes.
 * @param tools the tools of the agent: `loop.tools`
 * @param clock the clock of the timeout of a check
 * @throws as the action of `answer` does for a call and its value; HoldfastError `TOOL_TIMEOUT` when the check of the value
 * takes too long.
 * @throws TypeError `ARGUMENT_INVALID` for an answer with both a value and an error, or neither.
 */
export async function withAnswer(
  before: AgentState,
  given: GivenAnswer,
  tools: AgentLoop['tools'],
  at: Instant,
  clock: Clock = systemClock,
): Promise<AgentState> {
  requireState(before, 'withAnswer');
  requireOneResult(given);
  const state = withTimeoutsApplied(before, at);
  const question = callIn(state, given.toolExecutionId, tools);
  if (question?.execution.answer) throw alreadyAnswered(question.execution);
  if (!question?.execution.isAwaitingAnswer)
    throw notWaiting(given.toolExecutionId, 'an answer', pendingQuestions(state));
  const outcome = await outcomeOf(question, given, clock);
  const answer = compact({ at, outcome, by: given.by });
  return withCallChanged(state, given.toolExecutionId, (execution) => execution.withAnswer(answer), at);
}

async function outcomeOf(call: RequestedCall, given: GivenAnswer, clock: Clock): Promise<ToolOutcome> {
  if (given.error !== undefined) return { type: 'failed', error: toErrorRecord(new Error(given.error)) };
  const tool = toolOf(call);
  const value = toJsonValue(given.value);
  const check = tool.validateAnswer?.(value) ?? { value };
  const checked = await checkedInTime(tool, check, { subject: 'answer', clock });
  if ('problem' in checked) throw invalidAnswer(call.execution, checked.problem);
  return { type: 'succeeded', value: toJsonValue(checked.value) };
}

function alreadyAnswered({ id, answer }: ToolExecution): HoldfastError {
  const isLate = answer?.outcome?.type === 'failed' && answer.outcome.error.code === 'ANSWER_TIMEOUT';
  const by = answer?.by === undefined ? '' : ` by ${answer.by}`;
  const message = isLate
    ? `The answer timeout of tool call "${id}" has passed.`
    : `Tool call "${id}" was already answered${by}. The first answer counts.`;
  return new HoldfastError('ANSWER_GIVEN', message, {
    data: compact({ toolExecutionId: id, at: answer?.at, by: answer?.by }),
  });
}

function invalidAnswer({ id, name }: ToolExecution, problem: string): HoldfastError {
  const message = `The answer to tool call "${id}" of tool "${name}" is not valid: ${problem}. The call still waits.`;
  return new HoldfastError('ANSWER_INVALID', message, { data: { toolExecutionId: id, problem } });
}
