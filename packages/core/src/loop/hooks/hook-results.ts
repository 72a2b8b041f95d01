import { describeValue, hasErrorCode, HoldfastError } from '../../errors.ts';
import { checkedCopy } from '../../document.ts';
import { AgentState } from '../../state/agent-state.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { InferenceResponse } from '../../state/inference/inference-response.ts';
import { List } from '../../state/values/list.ts';
import { readLlmConfig } from '../../state/llm-config.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { checkedParts } from '../../state/messages/messages.ts';
import { readToolChoice } from '../../state/inference/request.ts';
import { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { InferenceRequest } from '../inference/driver.ts';
import type { Hook, HookPoint } from './hook.ts';

/** What a hook of a point may return. */
export type ResultOf<P extends HookPoint> = Awaited<ReturnType<NonNullable<Hook[P]>>> & object;

/** What a hook was called with. */
export interface HookInput {
  readonly point: HookPoint;
  readonly before: AgentState;
  readonly subject: unknown;
}

/** What goes wrong in a hook is named after it; what a hook finds on purpose keeps its name. */
export function asHookError(hook: string, point: keyof Hook, error: unknown): unknown {
  if (isAgentStop(error) || hasErrorCode(error, 'PRICE_UNKNOWN')) return error;
  const reason = toErrorRecord(error).message;
  return new HoldfastError('HOOK_FAILED', `${hook} failed in ${point}: ${reason}`, { cause: error });
}

/** The error for what a hook returned, of which `error` says why its point does not take it. */
export function asMisfitError(
  hook: string,
  point: HookPoint,
  result: unknown,
  error: unknown,
): HoldfastError {
  const isMisfit = error instanceof UnacceptableResult;
  const misfit = isMisfit ? error.message : `${describeValue(result)}, which does not fit`;
  const reason = isMisfit ? '' : ` ${toErrorRecord(error).message}`;
  const expected = MEMBERS[point] ? 'an object of changes' : 'a state';
  return new HoldfastError(
    'HOOK_FAILED',
    `${hook} returned ${misfit} from ${point}; it may return ${expected} or nothing.${reason}`,
    isMisfit ? {} : { cause: error },
  );
}

/** What a settled hook returned, checked and frozen. @throws what says that the point does not take it. */
export function acceptResult<P extends HookPoint>(
  given: HookInput,
  result: unknown,
): ResultOf<P> | undefined {
  if (result === undefined || result === null) return undefined;
  return acceptMembers(result, given) as ResultOf<P>;
}

/** What the hook returned, in words that follow "returned". */
export class UnacceptableResult extends Error {}

/** Takes in a part of what a hook returned, checked and frozen. */
type AcceptMember = (value: unknown, given: HookInput) => unknown;

const acceptState: AcceptMember = (value, { before }) => {
  if (!(value instanceof AgentState)) throw new UnacceptableResult(`${describeValue(value)} as the state`);
  if (!followsFrom(before, value)) {
    throw new UnacceptableResult(
      'a state that does not follow from the one it was given: it is of another time or agent',
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
    throw new UnacceptableResult('another call than it was given: a changed call keeps its toolCallId');
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
  if (value.id !== (subject as ToolExecution).id || value.isRunning) {
    throw new UnacceptableResult('another tool execution than it was given, or one without an outcome');
  }
  return value === subject ? value : ToolExecution.fromJSON(value.toJSON());
};

/** What hooks of these points may change; those of the other points return a state. */
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

/** Is the second state the first with something added? What ran must not be forgotten: it would be run again. */
function followsFrom({ agentId, execution: was }: AgentState, after: AgentState): boolean {
  const { execution: is } = after;
  if (was === is) return agentId === after.agentId;
  if (was === undefined || is === undefined || agentId !== after.agentId) return false;
  const [step, stepAfter] = [was.currentStep, is.currentStep];
  const isOpen = is.stepExecutions.length === was.stepExecutions.length;
  return (
    is.executionId === was.executionId &&
    is.isTerminal >= was.isTerminal &&
    is.stepExecutions.length >= was.stepExecutions.length &&
    is.continuation.signals.length >= was.continuation.signals.length &&
    (!isOpen || step === undefined || step.id === stepAfter?.id) &&
    (!isOpen || step?.response === undefined || stepAfter?.response !== undefined) &&
    (!isOpen ||
      (step?.toolExecutions ?? []).every(({ id }) =>
        stepAfter?.toolExecutions.some((known) => known.id === id),
      ))
  );
}
