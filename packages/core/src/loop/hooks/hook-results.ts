import { describeValue, hasErrorCode, HoldfastError } from '../../errors.ts';
import { checked } from '../../document.ts';
import { AgentState } from '../../state/agent-state.ts';
import { isAgentStop } from '../../state/execution/continuation.ts';
import { toErrorRecord } from '../../state/values/error-record.ts';
import { InferenceResponse } from '../../state/execution/inference.ts';
import { List } from '../../state/values/list.ts';
import { readLlmConfig } from '../../state/llm-config.ts';
import type { ToolCallPart } from '../../state/messages/messages.ts';
import { checkedParts } from '../../state/messages/messages.ts';
import { readToolChoice } from '../../state/execution/request.ts';
import { ToolExecution } from '../../state/execution/tool-execution.ts';
import type { InferenceRequest } from '../driver.ts';
import type { Hook, HookPoint } from './hook.ts';

/** What a hook of a point may return. */
export type ResultOf<P extends HookPoint> = Awaited<ReturnType<NonNullable<Hook[P]>>> & object;

/** What a hook was called with. */
export interface Given {
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
  const isMisfit = error instanceof Misfit;
  const misfit = isMisfit ? error.message : `${describeValue(result)}, which does not fit`;
  const expected = MEMBERS[point] ? 'an object of changes' : 'a state';
  return new HoldfastError(
    'HOOK_FAILED',
    `${hook} returned ${misfit} from ${point}; it may return ${expected} or nothing.`,
    isMisfit ? {} : { cause: error },
  );
}

/** What a settled hook returned, checked and frozen. @throws what says that the point does not take it. */
export function takeResult<P extends HookPoint>(given: Given, result: unknown): ResultOf<P> | undefined {
  if (result === undefined || result === null) return undefined;
  return taken(result, given) as ResultOf<P>;
}

/** What the hook returned, in words that follow "returned". */
export class Misfit extends Error {}

/** Takes in a part of what a hook returned, checked and frozen. */
type Take = (value: unknown, given: Given) => unknown;

const takeState: Take = (value, { before }) => {
  if (!(value instanceof AgentState)) throw new Misfit(`${describeValue(value)} as the state`);
  if (!continues(before, value)) {
    throw new Misfit(
      'a state that does not follow from the one it was given: it is of another time or agent',
    );
  }
  return value;
};

const takeRequest: Take = (value, { subject }) => {
  if (!isRequest(value)) throw new Misfit('a request without a list of messages');
  const { llmConfig, toolChoice } = value;
  const given = subject as InferenceRequest;
  if (llmConfig === given.llmConfig && toolChoice === given.toolChoice) return value;
  return {
    ...value,
    llmConfig: llmConfig && checked('LLM configuration', llmConfig, readLlmConfig),
    toolChoice: checked('tool choice', toolChoice, readToolChoice),
  };
};

function isRequest(value: unknown): value is InferenceRequest {
  return typeof value === 'object' && value !== null && 'messages' in value && value.messages instanceof List;
}

const takeResponse: Take = (value) => {
  if (!(value instanceof InferenceResponse)) throw new Misfit(`${describeValue(value)} as the response`);
  return value;
};

const takeCall: Take = (value, { subject }) => {
  const [call] = checkedParts('assistant', [value as ToolCallPart]);
  if (call?.type !== 'tool-call' || call.toolCallId !== (subject as ToolCallPart).toolCallId) {
    throw new Misfit('another call than it was given: a changed call keeps its toolCallId');
  }
  return call;
};

const takeBlock: Take = (value) => {
  if (typeof value !== 'string') throw new Misfit(`${describeValue(value)} as the reason of a block`);
  return value;
};

const takeToolExecution: Take = (value, { subject }) => {
  if (!(value instanceof ToolExecution)) throw new Misfit(`${describeValue(value)} as the tool execution`);
  if (value.id !== (subject as ToolExecution).id || value.isRunning) {
    throw new Misfit('another tool execution than it was given, or one without an outcome');
  }
  return value === subject ? value : ToolExecution.fromJSON(value.toJSON());
};

/** What hooks of these points may change; those of the other points return a state. */
const MEMBERS: { readonly [P in HookPoint]?: Readonly<Record<string, Take>> } = {
  beforeInference: { state: takeState, request: takeRequest },
  afterInference: { state: takeState, response: takeResponse },
  beforeToolUse: { state: takeState, call: takeCall, block: takeBlock },
  afterToolUse: { state: takeState, toolExecution: takeToolExecution },
};

function taken(result: unknown, given: Given): unknown {
  const members = MEMBERS[given.point];
  if (members === undefined) return takeState(result, given);
  if (typeof result !== 'object' || Array.isArray(result)) throw new Misfit(describeValue(result));
  if (result instanceof AgentState) throw new Misfit('a bare state');
  const change: Record<string, unknown> = {};
  for (const [name, take] of Object.entries(members)) {
    const value = (result as Record<string, unknown>)[name];
    if (value !== undefined) change[name] = take(value, given);
  }
  return change;
}

/** Is the second state the first with something added? What ran must not be forgotten: it would be run again. */
function continues({ agentId, execution: was }: AgentState, after: AgentState): boolean {
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
