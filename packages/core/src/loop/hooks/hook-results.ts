import { checkedCopy } from '../../arguments.ts';
import { describeValue, hasErrorCode, HoldfastError } from '../../errors.ts';
import { AgentState } from '../../state/agent-state.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { InferenceResponse } from '../../state/inference/inference-response.ts';
import { List } from '../../state/values/list.ts';
import { readLlmConfig } from '../../state/inference/llm-config.ts';
import { checkedParts, type ToolCallPart } from '../../state/messages/messages.ts';
import { readToolChoice } from '../../state/inference/request.ts';
import { ToolExecution } from '../../state/tools/tool-execution.ts';
import type { InferenceRequest } from '../inference/driver.ts';
import type { Hook, HookPoint } from './hook.ts';

export type ResultOf<P extends HookPoint> = Awaited<ReturnType<NonNullable<Hook[P]>>> & object;

export interface HookInput {
  readonly point: HookPoint;
  readonly before: AgentState;
  readonly subject: unknown;
}

/** Adds the name of the hook to its error. An `AgentStop` and a `PRICE_UNKNOWN` error stay as they are. */
export function asHookError(hook: string, point: keyof Hook, error: unknown): unknown {
  if (isAgentStop(error) || hasErrorCode(error, 'PRICE_UNKNOWN')) return error;
  const reason = toErrorRecord(error).message;
  return new HoldfastError('HOOK_FAILED', `${hook} failed in ${point}: ${reason}`, { cause: error });
}

/** The error for an invalid result of a hook; `error` is the reason why the point does not accept it. */
export function asMisfitError(
  hook: string,
  point: HookPoint,
  result: unknown,
  error: unknown,
): HoldfastError {
  const isMisfit = error instanceof UnacceptableResult;
  const misfit = isMisfit ? error.message : `${describeValue(result)}, which is invalid`;
  const reason = isMisfit ? '' : ` ${toErrorRecord(error).message}`;
  const expected = MEMBERS[point] ? 'an object of changes' : 'a state';
  return new HoldfastError(
    'HOOK_FAILED',
    `${hook} returned ${misfit} from ${point}; it may return ${expected} or undefined.${reason}`,
    isMisfit ? {} : { cause: error },
  );
}

/**
 * Checks and freezes the settled result of a hook. @throws UnacceptableResult, or the error of a check, for an invalid
 * result.
 */
export function acceptResult<P extends HookPoint>(
  given: HookInput,
  result: unknown,
): ResultOf<P> | undefined {
  if (result === undefined || result === null) return undefined;
  return acceptMembers(result, given) as ResultOf<P>;
}

/** Describes the invalid result in words that follow "returned". */
export class UnacceptableResult extends Error {}

/** Checks and freezes one member of a hook's result. */
type AcceptMember = (value: unknown, given: HookInput) => unknown;

const acceptState: AcceptMember = (value, { before }) => {
  if (!(value instanceof AgentState)) throw new UnacceptableResult(`${describeValue(value)} as the state`);
  if (!followsFrom(before, value)) {
    throw new UnacceptableResult(
      'a state that does not follow from the state that it received: it is older, or of another agent',
    );
  }
  return value;
};

const acceptRequest: AcceptMember = (value, { subject }) => {
  if (!isRequest(value)) throw new UnacceptableResult('a request without a list of messages');
  const { llmConfig, toolChoice } = value;
  const given = subject as InferenceRequest;
  if (llmConfig === given.llmConfig && toolChoice === given.toolChoice) return value;
  return {
    ...value,
    llmConfig: llmConfig && checkedCopy('LLM configuration', llmConfig, readLlmConfig),
    toolChoice: checkedCopy('tool choice', toolChoice, readToolChoice),
  };
};

function isRequest(value: unknown): value is InferenceRequest {
  return typeof value === 'object' && value !== null && 'messages' in value && value.messages instanceof List;
}

const acceptResponse: AcceptMember = (value) => {
  if (!(value instanceof InferenceResponse))
    throw new UnacceptableResult(`${describeValue(value)} as the response`);
  return value;
};

const acceptCall: AcceptMember = (value, { subject }) => {
  const [call] = checkedParts('assistant', [value as ToolCallPart]);
  if (call?.type !== 'tool-call' || call.toolCallId !== (subject as ToolCallPart).toolCallId) {
    throw new UnacceptableResult('another call than it received; a changed call keeps its toolCallId');
  }
  return call;
};

const acceptBlock: AcceptMember = (value) => {
  if (typeof value !== 'string')
    throw new UnacceptableResult(`${describeValue(value)} as the reason of a block`);
  return value;
};

const acceptToolExecution: AcceptMember = (value, { subject }) => {
  if (!(value instanceof ToolExecution))
    throw new UnacceptableResult(`${describeValue(value)} as the tool execution`);
  if (value.id !== (subject as ToolExecution).id || value.outcome === undefined) {
    throw new UnacceptableResult(
      'another tool execution than it received, or a tool execution without an outcome',
    );
  }
  return value === subject ? value : ToolExecution.fromJSON(value.toJSON());
};

/** The members that hooks of these points may change; hooks of the other points return a state. */
const MEMBERS: { readonly [P in HookPoint]?: Readonly<Record<string, AcceptMember>> } = {
  beforeInference: { state: acceptState, request: acceptRequest },
  afterInference: { state: acceptState, response: acceptResponse },
  beforeToolUse: { state: acceptState, call: acceptCall, block: acceptBlock },
  afterToolUse: { state: acceptState, toolExecution: acceptToolExecution },
};

function acceptMembers(result: unknown, given: HookInput): unknown {
  const members = MEMBERS[given.point];
  if (members === undefined) return acceptState(result, given);
  if (typeof result !== 'object' || Array.isArray(result))
    throw new UnacceptableResult(describeValue(result));
  if (result instanceof AgentState) throw new UnacceptableResult('a bare state');
  const unknown = Object.keys(result as object).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) {
    const known = Object.keys(members).join(', ');
    throw new UnacceptableResult(`an object with the unknown member "${unknown}" (known: ${known})`);
  }
  const change: Record<string, unknown> = {};
  for (const [name, take] of Object.entries(members)) {
    const value = (result as Record<string, unknown>)[name];
    if (value !== undefined) change[name] = take(value, given);
  }
  return change;
}

/**
 * True when the second state continues the first. A state must not drop completed work, because the loop would repeat
 * it.
 */
function followsFrom({ agentId, execution: was }: AgentState, after: AgentState): boolean {
  const { execution: is } = after;
  if (was === is) return agentId === after.agentId;
  if (was === undefined || is === undefined || agentId !== after.agentId) return false;
  const [step, stepAfter] = [was.currentStep, is.currentStep];
  const isOpen = is.stepExecutions.length === was.stepExecutions.length;
  return (
    is.executionId === was.executionId &&
    (is.isTerminal >= was.isTerminal || was.continuation.isStopped) &&
    is.stepExecutions.length >= was.stepExecutions.length &&
    (!isOpen || step === undefined || step.id === stepAfter?.id) &&
    (!isOpen || step?.response === undefined || stepAfter?.response !== undefined) &&
    (!isOpen ||
      (step?.toolExecutions ?? []).every(({ id }) =>
        stepAfter?.toolExecutions.some((known) => known.id === id),
      ))
  );
}
