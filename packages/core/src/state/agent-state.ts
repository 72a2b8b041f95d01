import { checkedCopy, wrongArgument } from '../arguments.ts';
import { checkForkOptions, checkInit, checkJsonOptions, type AgentStateInit } from './agent-state-init.ts';
import { systemClock, toInstant, type Clock, type Instant } from '../clock.ts';
import { toErrorRecord } from './values/error-record.ts';
import { DocumentReader, type Read } from '../document.ts';
import { compact, isSameJson, type JsonValue } from '../json.ts';
import { addCounts } from './values/amounts.ts';
import { AgentContext } from './context.ts';
import { draft, freeze } from './values/copy.ts';
import type { MessageTags } from './messages/message-tags.ts';
import type { StopSignal } from './execution/continuation.ts';
import { isTerminal, type ExecutionStatus } from './execution/status.ts';
import { ExecutionState } from './execution/execution.ts';
import { AgentId, type ExecutionId } from './values/ids.ts';
import type { ContextLimit } from './inference/context-limit.ts';
import { readLlmConfig, type LlmConfig, type ResponseFormat } from './inference/llm-config.ts';
import { isSameSettings, NO_SETTINGS } from './inference/request.ts';
import type { Usage } from './inference/usage.ts';
import { List } from './values/list.ts';
import { CONVERSATION, type MessageStore } from './messages/message-store.ts';
import {
  userMessage,
  type Message,
  type MessageOptions,
  type Messages,
  type UserPart,
} from './messages/messages.ts';
import type { MetadataKey } from './values/metadata.ts';
import type { SnapshotEnvelope } from './snapshot.ts';
import { readAgentState, writeAgentState, type AgentStateFields } from './agent-state-document.ts';
import { AgentStateView } from './agent-state-view.ts';
import { requireStep, withCallsEnded, type AgentStep } from './execution/step.ts';
import type { StepMessageIds } from './execution/step-output.ts';
import { metadataAfter } from './tools/tool-executions.ts';
import { withWaitingInside } from './version-1.ts';
import type { Waiting } from './values/waiting.ts';

/**
 * The immutable value of one agent: its identity, its context, and its current or last execution.
 *
 * Each `with…` method is a transition: it returns a changed state, or `this` when nothing changes. Identity, model
 * settings and context outlive an execution. A transition that needs an execution and finds none creates a pending one,
 * with the id `freshId` or a new id. Two such transitions of one state therefore create two executions: chain the
 * transitions instead.
 *
 * @example
 * const state = AgentState.empty().withSystemPrompt('Be brief.').withUserMessage('Hello');
 */
export class AgentState extends AgentStateView {
  private constructor(fields: AgentStateFields) {
    super(fields);
  }

  /** Creates the state of a new agent. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
  static empty(init: AgentStateInit = {}): AgentState {
    checkInit(init);
    const at = toInstant(init.at ?? systemClock.now());
    return AgentState.restore({
      agentId: init.agentId === undefined ? AgentId.create() : AgentId.parse(init.agentId),
      parentAgentId: init.parentAgentId === undefined ? undefined : AgentId.parse(init.parentAgentId),
      createdAt: at,
      updatedAt: at,
      executionCount: 0,
      llmConfig: undefined,
      context: AgentContext.empty,
      execution: undefined,
    });
  }

  // Transitions of the model settings and the context

  /** @throws HoldfastError `CONTEXT_INVALID` for a system prompt that is not a string. */
  withSystemPrompt(systemPrompt: string | undefined, at?: Instant): AgentState {
    return this.withContext(this.context.with({ systemPrompt }), at);
  }

  /** Returns the state with a user message at the end of the conversation. */
  withUserMessage(content: string | readonly UserPart[], options?: MessageOptions, at?: Instant): AgentState {
    return this.withMessageStore(this.store.append(CONVERSATION, [userMessage(content, options)]), at);
  }

  /** Returns the state with another conversation. The steps of the execution still count. */
  withMessages(messages: Iterable<Message>, at?: Instant): AgentState {
    return this.withMessageStore(this.store.withSection(CONVERSATION, messages), at);
  }

  withMessageStore(store: MessageStore, at?: Instant): AgentState {
    return this.withContext(this.context.with({ store }), at);
  }

  /** Returns the state with one metadata value set. */
  withMetadata<T extends JsonValue>(key: MetadataKey<T> | string, value: T, at?: Instant): AgentState {
    return this.withContext(this.context.with({ metadata: this.metadata.with(key, value) }), at);
  }

  /** Returns the state without one metadata value. */
  withoutMetadata(key: MetadataKey<JsonValue> | string, at?: Instant): AgentState {
    return this.withContext(this.context.with({ metadata: this.metadata.without(key) }), at);
  }

  /**
   * Returns the state with other model settings, which apply to later steps. Steps of this execution keep the settings
   * of their requests. @throws HoldfastError `CONTEXT_INVALID` for an unknown setting.
   */
  withLlmConfig(llmConfig: LlmConfig | undefined, at?: Instant): AgentState {
    const checkedConfig =
      llmConfig === undefined ? undefined : checkedCopy('LLM configuration', llmConfig, readLlmConfig);
    if (isSameJson(checkedConfig, this.llmConfig)) return this;
    return this.with({ llmConfig: checkedConfig, execution: this.executionBefore(checkedConfig) }, at);
  }

  /** Returns the state with what is known of the context window of the model. @internal */
  withContextLimit(contextLimit: ContextLimit, at: Instant): AgentState {
    if (isSameJson(contextLimit, this.contextLimit)) return this;
    return this.with({ contextLimit: Object.freeze(compact(contextLimit)) }, at);
  }

  /** Returns the execution with the settings of its steps, before the settings of the state change. */
  private executionBefore(llmConfig: LlmConfig | undefined): ExecutionState | undefined {
    const { execution } = this;
    if (execution === undefined || execution.stepCount === 0) return execution;
    const kept = execution.llmConfig ?? this.llmConfig ?? NO_SETTINGS;
    return execution.withLlmConfig(isSameSettings(kept, llmConfig) ? undefined : kept);
  }

  /** @throws HoldfastError `CONTEXT_INVALID` for an invalid response format. */
  withResponseFormat(responseFormat: ResponseFormat | undefined, at?: Instant): AgentState {
    return this.withContext(this.context.with({ responseFormat }), at);
  }

  // Transitions of the execution

  /**
   * Returns the state with this open step. A step with the id of the open step replaces it.
   * @throws RangeError `ARGUMENT_INVALID` while another step is open, when the execution is terminal, and for ids of
   * closed steps.
   */
  withCurrentStep(step: AgentStep, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    requireStep(step);
    return this.withExecution(this.executionAt(at, freshId).withCurrentStep(this.beginning(step), at), at);
  }

  /** As `withCurrentStep`, for a step whose ids are new by construction. @internal */
  withNewStep(step: AgentStep, at: Instant): AgentState {
    return this.withExecution(this.executionAt(at).withNewStep(this.beginning(step), at), at);
  }

  /** Returns a new step with the settings of the state, if the steps before it have other settings. */
  private beginning(step: AgentStep): AgentStep {
    const { execution } = this;
    if (execution?.llmConfig === undefined || step.request !== undefined) return step;
    if (execution.currentStep !== undefined) return step;
    return step.withRequest({ llmConfig: this.llmConfig ?? NO_SETTINGS });
  }

  /**
   * Returns the state with the open step closed and its messages in the conversation, tagged. A call that was started
   * and has no outcome becomes `interrupted`. A call that was not started gets a result that states this.
   */
  withCurrentStepCompleted(at: Instant = systemClock.now()): AgentState {
    return this.withStepClosed(undefined, at);
  }

  /**
   * Closes the step after `workedSeconds`. Without `ids`, the ids of the messages derive from the id of the step.
   * @internal
   */
  withStepClosed(ids: StepMessageIds | undefined, at: Instant, workedSeconds = 0): AgentState {
    const { execution } = this;
    const open = this.currentStep && withCallsEnded(this.currentStep, at);
    if (execution === undefined || open === undefined) return this;
    const finished = open.withTaggedOutput(this.tagsOf(open, execution.executionId), ids, at);
    const messages = this.messages.concat(finished.taggedOutput);
    const completed = execution.withStepCompleted(finished, at, workedSeconds);
    return this.withFinished(finished, messages, completed, at);
  }

  /** Returns the state with the messages and the metadata of a finished step. */
  private withFinished(
    { toolExecutions }: AgentStep,
    messages: Messages,
    execution: ExecutionState,
    at: Instant,
  ): AgentState {
    const next = this.copyAt(at);
    const store = messages === this.messages ? this.store : this.store.withChecked(CONVERSATION, messages);
    draft(next).context = this.context.with({
      store,
      metadata: metadataAfter(this.metadata, toolExecutions),
    });
    draft(next).execution = execution;
    return freeze(next);
  }

  /** Closes an open step, before its execution ends or is removed. */
  private withOpenStepClosed(at: Instant): AgentState {
    return this.currentStep === undefined ? this : this.withStepClosed(undefined, at);
  }

  /**
   * Returns the state with another form of the last step of a terminal execution, after a late response or outcome. Its
   * messages replace the earlier messages of the step. @internal
   */
  withLastStep(step: AgentStep, at: Instant): AgentState {
    const { execution, lastStep } = this;
    if (!execution?.isTerminal || lastStep === undefined || step === lastStep) return this;
    const ended = withCallsEnded(step, at);
    const finished = ended.withTaggedOutput(this.tagsOf(ended, execution.executionId), undefined, at);
    const before: ReadonlySet<Message> = new Set(lastStep.taggedOutput);
    const others = this.messages.toArray().filter((message) => !before.has(message));
    const found = this.messages.toArray().findIndex((message) => before.has(message));
    const place = found < 0 ? others.length : found;
    const messages = [...others.slice(0, place), ...finished.taggedOutput, ...others.slice(place)];
    return this.withFinished(finished, List.from(messages), execution.withLastStep(finished), at);
  }

  private tagsOf({ id, isFinalResponse }: AgentStep, executionId: ExecutionId): MessageTags {
    const { agentId } = this;
    return isFinalResponse
      ? { step_id: id, execution_id: executionId, agent_id: agentId }
      : { step_id: id, execution_id: executionId, agent_id: agentId, is_trace: true };
  }

  /** Returns the state with another stop signal. */
  withStopSignal(signal: StopSignal, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withStopSignal(signal), at);
  }

  /**
   * Returns the state with a request for another step. It overrides all stop signals until that step starts, except in a
   * hook, where a forced stop is final.
   */
  withContinuationRequested(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const execution = this.executionAt(at, freshId);
    return this.withExecution(execution.withContinuation(execution.continuation.withRequested()), at);
  }

  /** Returns the state without the request for another step. */
  withoutContinuationRequested(at: Instant = systemClock.now()): AgentState {
    const { execution } = this;
    if (execution === undefined) return this;
    return this.withExecution(execution.withContinuation(execution.continuation.withoutRequest()), at);
  }

  /** Returns the state with an error in the open step, or outside any step. The thrown value can be of any type. */
  withError(thrown: unknown, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withError(toErrorRecord(thrown)), at);
  }

  /**
   * Returns the state with an error and a failed execution. An open step is closed, as by `withCurrentStepCompleted`.
   */
  withFailure(thrown: unknown, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withError(thrown, at, freshId).withExecutionStatus('failed', at);
  }

  /**
   * Returns the state with an execution in progress. A pending execution starts, another active execution resumes.
   * Otherwise a new execution starts, with the id `freshId` or a new id.
   */
  withExecutionStarted(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const execution = this.hasActiveExecution ? this.execution : ExecutionState.create({ id: freshId, at });
    return this.with({ execution }, at).withExecutionStatus('inProgress', at);
  }

  /**
   * Returns the state with a status of its execution. The change from none or `pending` to `inProgress` counts the
   * execution. Before a terminal status an open step is closed, as by `withCurrentStepCompleted`.
   */
  withExecutionStatus(
    status: ExecutionStatus,
    at: Instant = systemClock.now(),
    waiting?: readonly Waiting[],
  ): AgentState {
    const state = isTerminal(status) ? this.withOpenStepClosed(at) : this;
    const before = state.executionAt(at);
    const execution = before.withStatus(status, at, waiting);
    if (execution === state.execution) return state;
    const begins = status === 'inProgress' && before.status === 'pending';
    return state.with({ executionCount: addCounts(this.executionCount, begins ? 1 : 0), execution }, at);
  }

  /**
   * Returns the state with a terminal execution, in the status that follows from its errors and stop signals. A failed
   * execution stays failed. An open step is closed, as by `withCurrentStepCompleted`.
   */
  withExecutionCompleted(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const state = this.withOpenStepClosed(at);
    const execution = state.executionAt(at, freshId);
    if (execution.status === 'failed') return state;
    return state.withExecution(execution.withStatus(execution.terminalStatus, at), at);
  }

  /**
   * Returns the state with added usage from outside any step, such as a summary. It counts in the totals of the
   * execution.
   */
  withOtherUsage(usage: Usage, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withOtherUsage(usage), at);
  }

  /**
   * Returns the state with added seconds of work; a negative number counts as 0.
   * @throws RangeError `ARGUMENT_INVALID` for NaN and infinities.
   */
  withTimeWorked(seconds: number, at: Instant = systemClock.now()): AgentState {
    const { execution } = this;
    return execution === undefined ? this : this.withExecution(execution.withTimeWorked(seconds), at);
  }

  /** Returns the state without its execution. An open step is closed, as at the end of an execution. */
  forNextExecution(at: Instant = systemClock.now()): AgentState {
    if (this.execution === undefined) return this;
    return this.withOpenStepClosed(at).with({ execution: undefined }, at);
  }

  /**
   * Returns a copy as another agent, without the execution. The conversation stays, the output of an open step
   * included; its tags name the original agent. The clock provides an id or a time that is not passed.
   */
  fork(
    options: { readonly agentId?: string; readonly at?: Instant; readonly clock?: Clock } = {},
  ): AgentState {
    const { clock = systemClock } = checkForkOptions(options);
    const at = toInstant(options.at ?? clock.now());
    const agentId = options.agentId === undefined ? AgentId.create(clock) : AgentId.parse(options.agentId);
    const { parentAgentId, contextLimit, llmConfig, context } = this.withOpenStepClosed(at);
    const fresh = { createdAt: at, updatedAt: at, executionCount: 0, execution: undefined };
    return AgentState.restore({ agentId, parentAgentId, contextLimit, llmConfig, context, ...fresh });
  }

  private executionAt(at: Instant, freshId?: ExecutionId): ExecutionState {
    return this.execution ?? ExecutionState.create({ id: freshId, at });
  }

  private withContext(context: AgentContext, at?: Instant): AgentState {
    if (!(context instanceof AgentContext)) throw wrongArgument(context, 'an AgentContext');
    return context === this.context ? this : this.with({ context }, at);
  }

  /** @internal */
  withExecution(execution: ExecutionState, at: Instant): AgentState {
    if (execution === this.execution) return this;
    const next = this.copyAt(at);
    draft(next).execution = execution;
    return freeze(next);
  }

  private with(changes: Partial<AgentStateFields>, at: Instant = systemClock.now()): AgentState {
    return freeze(Object.assign(this.copyAt(at), changes));
  }

  private copyAt(at: Instant): AgentState {
    const copy = new AgentState(this);
    draft(copy).updatedAt = Math.max(this.updatedAt, toInstant(at));
    return copy;
  }

  // JSON

  /**
   * Returns the complete state as a versioned JSON document. With `{ execution: 'omit' }` the document has no
   * execution: reading it returns `forNextExecution()` at the time of the last change. `JSON.stringify` passes a string.
   */
  toJSON(options?: { readonly execution?: 'omit' } | string): SnapshotEnvelope {
    const isExecutionOmitted = typeof options === 'object' && checkJsonOptions(options).execution === 'omit';
    return writeAgentState(isExecutionOmitted ? this.forNextExecution(this.updatedAt) : this);
  }

  /**
   * Restores a state from a document of this or an older version. Parts of the document become parts of the state: they
   * are frozen and not copied. @throws StateFormatError with the path of the invalid value; `STATE_VERSION` when a
   * newer release wrote the document.
   */
  static fromJSON(json: unknown): AgentState {
    return DocumentReader.read(json, AgentState.read);
  }

  /** @internal */
  static readonly read: Read<AgentState> = (reader, value) => {
    const state = AgentState.restore(readAgentState(reader, value));
    return reader.version === 1 ? state.fromVersion1() : state;
  };

  /** Migrates a state from version 1 of the format to version 2. */
  private fromVersion1(): AgentState {
    const { execution } = this;
    if (execution?.currentStep === undefined) return this;
    if (execution.completedAt !== undefined) return this.withStepClosed(undefined, execution.completedAt);
    const migrated = withWaitingInside(execution);
    return migrated === execution ? this : AgentState.restore({ ...this, execution: migrated });
  }

  /** @internal */
  static restore(fields: AgentStateFields): AgentState {
    return freeze(new AgentState(fields));
  }
}
