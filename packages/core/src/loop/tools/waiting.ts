import type { Instant } from '../../clock.ts';
import type { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import { waitingForRetry } from '../../state/inference/inference-failure.ts';
import type { Waiting } from '../../state/values/waiting.ts';
import { AgentState } from '../../state/agent-state.ts';
import { HoldfastError } from '../../errors.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { toJsonValue } from '../../json.ts';
import { waitingOfCall } from '../steps/stepper.ts';
import type { Tool } from './tool-types.ts';

/** The entries that a step waits for: decisions, answers, and the instants at which their approval timeouts expire. */
export function waitingOfStep(step: AgentStep, tools: ReadonlyMap<string, Tool>): readonly Waiting[] {
  if (step.pendingRetry) return [waitingForRetry(step.pendingRetry)];
  const awaitingApproval = step.toolExecutions.filter(({ isAwaitingApproval }) => isAwaitingApproval);
  const waiting = step.toolExecutions.flatMap(waitingOfCall);
  const [inside, decisions] = [waiting.filter(isUntil), waiting.filter((entry) => !isUntil(entry))];
  const moments = awaitingApproval.flatMap(({ id, call, approval }) => {
    const seconds = toolOfCall(tools, call)?.approvalTimeoutSeconds;
    if (seconds === undefined || approval === undefined) return [];
    const until = approval.requestedAt + Math.ceil(seconds * 1000);
    return [{ type: 'until', until, toolExecutionId: id } as const];
  });
  // Entries that a person can act on come first: a list shows the first entry.
  return [...decisions, ...inside, ...moments];
}

function isUntil({ type }: Waiting): boolean {
  return type === 'until';
}

/**
 * Returns the tool of a call. Providers name a call of a remote server after the kind of its tool, as in `mcp.search` for
 * a tool `openai.mcp`; such a call belongs to the first tool of that kind.
 */
function toolOfCall(
  tools: ReadonlyMap<string, Tool>,
  { toolName, providerExecuted }: ToolCallPart,
): Tool | undefined {
  const tool = tools.get(toolName);
  if (tool !== undefined || providerExecuted !== true) return tool;
  const kind = `.${toolName.split('.', 1)[0]}`;
  return [...tools.values()].find(({ providerTool }) => providerTool?.id.endsWith(kind));
}

/** Returns the state of the subagent inside a call. @throws StateFormatError when that state is unreadable. */
export function subagentState({ progress }: ToolExecution): AgentState {
  return AgentState.fromJSON(structuredClone(progress));
}

/** Changes the state of the subagent inside a call. @throws StateFormatError when that state is unreadable. */
export function withSubagentState(
  execution: ToolExecution,
  change: (state: AgentState) => AgentState,
): ToolExecution {
  const before = subagentState(execution);
  const after = change(before);
  if (after === before) return execution;
  return execution.withProgress(toJsonValue(after)).withWaitingInside(after.execution?.waiting ?? []);
}

const EXPIRED = 'The approval timeout passed without a decision.';

/**
 * Applies the timeouts of a suspended execution: an `until` entry whose instant has passed is removed, and a call whose
 * approval timeout has passed is denied. A call whose answer timeout has passed fails. When no entry remains, the
 * execution continues.
 */
export function withTimeoutsApplied(state: AgentState, now: Instant): AgentState {
  if (state.status !== 'suspended') return state;
  const waiting = state.execution?.waiting ?? [];
  const over = waiting.filter((entry) => isOver(entry, now));
  if (over.length === 0) return state;
  const ids = new Set(over.flatMap((entry) => ('toolExecutionId' in entry ? [entry.toolExecutionId] : [])));
  let changed = withRetryDue(state, now);
  for (const execution of state.currentStep?.toolExecutions ?? []) {
    const step = changed.currentStep;
    if (step === undefined) continue;
    const inside = execution.waitingInside.length > 0 && !execution.isAwaitingAnswer;
    if (!inside && !ids.has(execution.id)) continue;
    const passed = inside
      ? withSubagentState(execution, (state_) => withTimeoutsApplied(state_, now))
      : withCallExpired(execution, now);
    changed = changed.withCurrentStep(step.withToolExecution(passed), now);
  }
  const remaining = waiting.filter(
    (entry) =>
      !over.includes(entry) && !('toolExecutionId' in entry && ids.has(entry.toolExecutionId as never)),
  );
  return remaining.length === 0
    ? changed.withExecutionStatus('inProgress', now)
    : changed.withExecutionStatus('suspended', now, remaining);
}

/** Returns a call after its timeout: without its answer, or denied. */
function withCallExpired(execution: ToolExecution, at: Instant): ToolExecution {
  if (!execution.isAwaitingAnswer) return execution.withDecision({ type: 'denied', at, reason: EXPIRED });
  const message = `Tool "${execution.name}" was not answered before its answer timeout.`;
  const error = toErrorRecord(new HoldfastError('ANSWER_TIMEOUT', message));
  return execution.withAnswer({ at, outcome: { type: 'failed', error } });
}

/** True when the instant of an entry, or the instant at which it fails, has passed. */
function isOver(entry: Waiting, now: Instant): boolean {
  if (entry.type === 'until') return entry.until <= now;
  if (entry.type === 'answer') return (entry.until ?? Infinity) <= now;
  return entry.type === 'retry' && Math.min(entry.until ?? Infinity, entry.failAt ?? Infinity) <= now;
}

/** Repeats the failed call of the model when it is due, or fails it when it has waited for `retry()` too long. */
function withRetryDue(state: AgentState, now: Instant): AgentState {
  const { currentStep: step } = state;
  const retry = step?.pendingRetry;
  if (step === undefined || retry === undefined) return state;
  if ((retry.retryAt ?? Infinity) <= now) return state.withCurrentStep(step.withInferenceRetried(now), now);
  return (retry.failAt ?? Infinity) <= now ? state.withError(retry.error, now) : state;
}
