import { mustBe, optionsCheck, wrongArgument } from '../arguments.ts';
import type { AgentStateInit } from './agent-state-init.ts';
import { checkInit, checkJsonOptions } from './agent-state-init.ts';
import type { Clock, Instant } from '../clock.ts';
import { systemClock, toInstant } from '../clock.ts';
import { toErrorRecord } from './values/error-record.ts';
import type { Read } from '../document.ts';
import type { JsonValue } from '../json.ts';
import { checkedCopy, DocumentReader } from '../document.ts';
import { isSameJson } from '../json.ts';
import { addCounts } from './values/amounts.ts';
import { AgentContext } from './context.ts';
import { draft, freeze } from './values/copy.ts';
import type { MessageTags } from './messages/message-tags.ts';
import type { StopSignal } from './execution/continuation.ts';
import type { ExecutionStatus } from './execution/status.ts';
import { ExecutionState } from './execution/execution.ts';
import { isTerminal } from './execution/status.ts';
import type { ExecutionId } from './values/ids.ts';
import { AgentId } from './values/ids.ts';
import type { LlmConfig, ResponseFormat } from './llm-config.ts';
import { readLlmConfig } from './llm-config.ts';
import { isSameSettings, NO_SETTINGS } from './inference/request.ts';
import type { Usage } from './inference/usage.ts';
import { List } from './values/list.ts';
import type { MessageStore } from './messages/message-store.ts';
import { CONVERSATION } from './messages/message-store.ts';
import type { Message, MessageOptions, UserPart } from './messages/messages.ts';
import { userMessage } from './messages/messages.ts';
import type { MetadataKey } from './metadata.ts';
import type { SnapshotEnvelope } from './documents/snapshot.ts';
import { readAgentState, writeAgentState } from './documents/agent-state-document.ts';
import type { AgentStateFields } from './agent-state-view.ts';
import { AgentStateView } from './agent-state-view.ts';
import type { AgentStep } from './execution/step.ts';
import type { StepMessageIds } from './execution/step-output.ts';
import { requireStep, withCallsEnded } from './execution/step.ts';
import { metadataAfter } from './execution/tool-executions.ts';
import { withWaitingInside } from './documents/version-1.ts';
import type { Waiting } from './execution/waiting.ts';

const checkForkedOptions = optionsCheck<NonNullable<Parameters<AgentState['fork']>[0]>>('fork', {
  agentId: mustBe.anything,
  at: mustBe.anything,
  clock: mustBe.clock,
});

/**
 * An agent as a value: who it is, what it has said, and how far its present run has got.
 *
 * Immutable: each `with…` returns a new state, or `this` when nothing differs. What survives executions
 * (identity, model, context) is beside `execution`, which is the one run in progress, or the last one.
 * A transition that needs an execution when there is none starts a fresh, pending one, with a new id or the one
 * passed last; two such calls on the same state therefore give two executions with different ids. Chain them instead.
 *
 * @example
 * const state = AgentState.empty().withSystemPrompt('Be brief.').withUserMessage('Hello');
 */
export class AgentState extends AgentStateView {
  private constructor(fields: AgentStateFields) {
    super(fields);
  }

  /** A new agent that has said nothing. @throws HoldfastError `ID_INVALID` for an id that is not a UUID. */
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

  // Transitions of the session data

  /** @throws HoldfastError `CONTEXT_INVALID` for something that is not a text. */
  withSystemPrompt(systemPrompt: string | undefined, at?: Instant): AgentState {
    return this.withContext(this.context.with({ systemPrompt }), at);
  }

  /** The same with a message of the user at the end of the conversation. */
  withUserMessage(content: string | readonly UserPart[], options?: MessageOptions, at?: Instant): AgentState {
    return this.withMessageStore(this.store.append(CONVERSATION, [userMessage(content, options)]), at);
  }

  /** The same with another conversation. Steps already taken keep counting. */
  withMessages(messages: Iterable<Message>, at?: Instant): AgentState {
    return this.withMessageStore(this.store.withSection(CONVERSATION, messages), at);
  }

  withMessageStore(store: MessageStore, at?: Instant): AgentState {
    return this.withContext(this.context.with({ store }), at);
  }

  /** The same with one fact set in the metadata. */
  withMetadata<T extends JsonValue>(key: MetadataKey<T> | string, value: T, at?: Instant): AgentState {
    return this.withContext(this.context.with({ metadata: this.metadata.with(key, value) }), at);
  }

  /** The same without a fact of the metadata. */
  withoutMetadata(key: MetadataKey<JsonValue> | string, at?: Instant): AgentState {
    return this.withContext(this.context.with({ metadata: this.metadata.without(key) }), at);
  }

  /**
   * The same with another model or other settings, for the steps to come: those of this execution keep what they were sent
   * with. @throws HoldfastError `CONTEXT_INVALID` for an unknown setting.
   */
  withLlmConfig(llmConfig: LlmConfig | undefined, at?: Instant): AgentState {
    const checkedConfig =
      llmConfig === undefined ? undefined : checkedCopy('LLM configuration', llmConfig, readLlmConfig);
    if (isSameJson(checkedConfig, this.llmConfig)) return this;
    return this.with({ llmConfig: checkedConfig, execution: this.executionBefore(checkedConfig) }, at);
  }

  /** The execution before the settings change: its steps keep those that they were sent with. */
  private executionBefore(llmConfig: LlmConfig | undefined): ExecutionState | undefined {
    const { execution } = this;
    if (execution === undefined || execution.stepCount === 0) return execution;
    const kept = execution.llmConfig ?? this.llmConfig ?? NO_SETTINGS;
    return execution.withLlmConfig(isSameSettings(kept, llmConfig) ? undefined : kept);
  }

  /** @throws HoldfastError `CONTEXT_INVALID` for something that is not a format. */
  withResponseFormat(responseFormat: ResponseFormat | undefined, at?: Instant): AgentState {
    return this.withContext(this.context.with({ responseFormat }), at);
  }

  // Transitions of the execution

  /**
   * The same with the step in progress, which begins with it or goes on under its id.
   * @throws RangeError `ARGUMENT_INVALID` while another step is open, when the execution is over, and for ids that a
   * finished step has.
   */
  withCurrentStep(step: AgentStep, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    requireStep(step);
    return this.withExecution(this.executionAt(at, freshId).withCurrentStep(this.beginning(step), at), at);
  }

  /** The same for a step whose ids no other has, by the way they were made. @internal */
  withNewStep(step: AgentStep, at: Instant): AgentState {
    return this.withExecution(this.executionAt(at).withNewStep(this.beginning(step), at), at);
  }

  /** A step as it begins: it is sent with the settings of the state, also where those before it were not. */
  private beginning(step: AgentStep): AgentStep {
    const { execution } = this;
    if (execution?.llmConfig === undefined || step.request !== undefined) return step;
    if (execution.currentStep !== undefined) return step;
    return step.withRequest({ llmConfig: this.llmConfig ?? NO_SETTINGS });
  }

  /**
   * The same with the current step finished and its messages in the conversation, tagged. Calls that were started and have
   * no outcome are `interrupted`; those that were not begun get a result that says so.
   */
  withCurrentStepCompleted(at: Instant = systemClock.now()): AgentState {
    return this.withStepClosed(undefined, at);
  }

  /** The same after so many seconds of work. Without ids, those of the messages follow from that of the step. @internal */
  withStepClosed(ids: StepMessageIds | undefined, at: Instant, workedSeconds = 0): AgentState {
    const { execution } = this;
    const open = this.currentStep && withCallsEnded(this.currentStep, at);
    if (execution === undefined || open === undefined) return this;
    const finished = open.withTaggedOutput(this.tagsOf(open, execution.executionId), ids, at);
    const { taggedOutput: added } = finished;
    const store =
      added.length === 0 ? this.store : this.store.withChecked(CONVERSATION, this.messages.concat(added));
    const next = this.copyAt(at);
    draft(next).context = this.context.with({
      store,
      metadata: metadataAfter(this.metadata, finished.toolExecutions),
    });
    draft(next).execution = execution.withStepCompleted(finished, at, workedSeconds);
    return freeze(next);
  }

  /** The same with a step that is open closed: no execution ends, or is put away, with one. */
  private withOpenStepClosed(at: Instant): AgentState {
    return this.currentStep === undefined ? this : this.withStepClosed(undefined, at);
  }

  /**
   * The same with another form of the step with which the execution has ended: an answer or the end of a call has come
   * since. Its messages stand in the place of those before. @internal
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
    const next = this.copyAt(at);
    const store = this.store.withChecked(CONVERSATION, List.from(messages));
    draft(next).context = this.context.with({
      store,
      metadata: metadataAfter(this.metadata, finished.toolExecutions),
    });
    draft(next).execution = execution.withLastStep(finished);
    return freeze(next);
  }

  private tagsOf({ id, isFinalResponse }: AgentStep, executionId: ExecutionId): MessageTags {
    const origin = { step_id: id, execution_id: executionId, agent_id: this.agentId };
    return isFinalResponse ? origin : { ...origin, is_trace: true };
  }

  /** The same with one more reason to stop. */
  withStopSignal(signal: StopSignal, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withStopSignal(signal), at);
  }

  /** The same with another step asked for, whatever speaks for stopping. Holds until that step begins. */
  withContinuationRequested(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const execution = this.executionAt(at, freshId);
    return this.withExecution(execution.withContinuation(execution.continuation.withRequested()), at);
  }

  /** The same without the request for another step. */
  withoutContinuationRequested(at: Instant = systemClock.now()): AgentState {
    const { execution } = this;
    if (execution === undefined) return this;
    return this.withExecution(execution.withContinuation(execution.continuation.withoutRequest()), at);
  }

  /** The same with an error in the current step, or outside any step. What was thrown may be anything. */
  withError(thrown: unknown, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withError(toErrorRecord(thrown)), at);
  }

  /** The same with an error, and the execution failed; an open step is closed, as by `withCurrentStepCompleted`. */
  withFailure(thrown: unknown, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withError(thrown, at, freshId).withExecutionStatus('failed', at);
  }

  /**
   * The same with an execution in progress: a pending one begins, an unfinished one goes on, and otherwise a fresh
   * one of the given id begins.
   */
  withExecutionStarted(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const execution = this.hasActiveExecution ? this.execution : ExecutionState.create({ id: freshId, at });
    return this.with({ execution }, at).withExecutionStatus('inProgress', at);
  }

  /**
   * The same with a status. Taking an execution from none or `pending` to `inProgress` counts it. Before a terminal one an
   * open step is closed, as by `withCurrentStepCompleted`.
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
   * The same with the execution over, in the status that its errors and signals call for; one that failed stays so. An
   * open step is closed, as by `withCurrentStepCompleted`.
   */
  withExecutionCompleted(at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    const state = this.withOpenStepClosed(at);
    const execution = state.executionAt(at, freshId);
    if (execution.status === 'failed') return state;
    return state.withExecution(execution.withStatus(execution.terminalStatus, at), at);
  }

  /** The same with more used outside any step, as for a summary. It counts in the totals of the execution. */
  withOtherUsage(usage: Usage, at: Instant = systemClock.now(), freshId?: ExecutionId): AgentState {
    return this.withExecution(this.executionAt(at, freshId).withOtherUsage(usage), at);
  }

  /** The same with more seconds counted as worked; less than none is none. @throws RangeError `ARGUMENT_INVALID` for NaN and infinities. */
  withTimeWorked(seconds: number, at: Instant = systemClock.now()): AgentState {
    const { execution } = this;
    return execution === undefined ? this : this.withExecution(execution.withTimeWorked(seconds), at);
  }

  /** The same between executions: all session data and no execution. An open step is closed, as when the execution ends. */
  forNextExecution(at: Instant = systemClock.now()): AgentState {
    if (this.execution === undefined) return this;
    return this.withOpenStepClosed(at).with({ execution: undefined }, at);
  }

  /**
   * A copy as another agent, between executions. What was said and done stays, in an open step too; its tags tell who said
   * it. What is not given of id and time comes from the clock.
   */
  fork(
    options: { readonly agentId?: string; readonly at?: Instant; readonly clock?: Clock } = {},
  ): AgentState {
    const { clock = systemClock } = checkForkedOptions(options);
    const at = toInstant(options.at ?? clock.now());
    const agentId = options.agentId === undefined ? AgentId.create(clock) : AgentId.parse(options.agentId);
    const { parentAgentId, llmConfig, context } = this.withOpenStepClosed(at);
    const fresh = { createdAt: at, updatedAt: at, executionCount: 0, execution: undefined };
    return AgentState.restore({ agentId, parentAgentId, llmConfig, context, ...fresh });
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

  // As JSON

  /**
   * The state as a versioned JSON document, losslessly. `{ execution: 'omit' }` leaves the execution out, so that
   * reading it back is `forNextExecution()` at the time of the last change. `JSON.stringify` passes a string.
   */
  toJSON(options?: { readonly execution?: 'omit' } | string): SnapshotEnvelope {
    const isExecutionOmitted = typeof options === 'object' && checkJsonOptions(options).execution === 'omit';
    return writeAgentState(isExecutionOmitted ? this.forNextExecution(this.updatedAt) : this);
  }

  /**
   * A state from a document that `toJSON` made, of this or an older version. The document is handed over: its parts
   * become parts of the state and are frozen, not copied.
   * @throws StateFormatError naming the place that does not fit; `STATE_VERSION` when a newer release wrote it.
   */
  static fromJSON(json: unknown): AgentState {
    return DocumentReader.read(json, AgentState.read);
  }

  /** @internal */
  static readonly read: Read<AgentState> = (reader, value) => {
    const state = AgentState.restore(readAgentState(reader, value));
    return reader.version === 1 ? state.fromVersion1() : state;
  };

  /** A state that was read from a document of version 1, as version 2 has it. */
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
