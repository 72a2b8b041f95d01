import { systemClock, type Instant } from '../clock.ts';
import type { AgentStateFields } from './agent-state-document.ts';
import type { ErrorRecord } from './values/error-record.ts';
import type { AgentContext } from './context.ts';
import type { StopReason, StopSignal } from './execution/continuation.ts';
import type { ExecutionState } from './execution/execution.ts';
import type { ExecutionStatus } from './execution/status.ts';
import type { AgentId, ExecutionId } from './values/ids.ts';
import type { ContextLimit } from './inference/context-limit.ts';
import type { LlmConfig, ResponseFormat } from './inference/llm-config.ts';
import { filledSettings, type EffectiveRequest } from './inference/request.ts';
import { Usage } from './inference/usage.ts';
import { List } from './values/list.ts';
import type { MessageStore } from './messages/message-store.ts';
import type { Messages } from './messages/messages.ts';
import type { Metadata } from './values/metadata.ts';
import type { StepExecution } from './execution/step-execution.ts';
import { AgentStep, type StepType } from './execution/step.ts';
import { wrongArgument } from '../arguments.ts';
import type { ToolExecution } from './tools/tool-execution.ts';
import { NOTHING } from './values/frozen-array.ts';

/** A summary of a state, for a log or a test. */
export interface AgentStateDebug {
  readonly status: ExecutionStatus | undefined;
  readonly executionCount: number;
  readonly hasExecution: boolean;
  readonly executionId: ExecutionId | undefined;
  readonly steps: number;
  readonly continuation: string;
  readonly hasErrors: boolean;
  readonly errors: readonly string[];
  readonly usage: object;
}

/** The readable members of a state, stored and derived. `AgentState` adds the transitions. */
export abstract class AgentStateView {
  readonly agentId: AgentId;
  readonly parentAgentId: AgentId | undefined;
  readonly createdAt: Instant;
  /** When the state last changed; never decreases. */
  readonly updatedAt: Instant;
  /** The number of executions that were started. */
  readonly executionCount: number;
  /** How much the model takes at once; `undefined` while it has refused no request as too long. */
  readonly contextLimit: ContextLimit | undefined;
  readonly llmConfig: LlmConfig | undefined;
  readonly context: AgentContext;
  /** The current execution, or the last one until the next starts. */
  readonly execution: ExecutionState | undefined;

  /** The subclass freezes the state. @internal */
  protected constructor(fields: AgentStateFields) {
    this.agentId = fields.agentId;
    this.parentAgentId = fields.parentAgentId;
    this.createdAt = fields.createdAt;
    this.updatedAt = fields.updatedAt;
    this.executionCount = fields.executionCount;
    this.contextLimit = fields.contextLimit;
    this.llmConfig = fields.llmConfig;
    this.context = fields.context;
    this.execution = fields.execution;
  }

  // The context

  /** All messages, in sections. */
  get store(): MessageStore {
    return this.context.store;
  }

  /** The conversation: the section `messages`. The message compiler selects the messages that a model sees. */
  get messages(): Messages {
    return this.store.messages;
  }

  get systemPrompt(): string | undefined {
    return this.context.systemPrompt;
  }

  get metadata(): Metadata {
    return this.context.metadata;
  }

  get responseFormat(): ResponseFormat | undefined {
    return this.context.responseFormat;
  }

  // The execution

  /** The status of the execution; `undefined` when there is no execution. */
  get status(): ExecutionStatus | undefined {
    return this.execution?.status;
  }

  get executionId(): ExecutionId | undefined {
    return this.execution?.executionId;
  }

  /** True when there is an execution and its status is not terminal. */
  get hasActiveExecution(): boolean {
    return this.execution !== undefined && !this.execution.isTerminal;
  }

  /** The number of steps of this execution, the open step included. It does not depend on the messages. */
  get stepCount(): number {
    return this.execution?.stepCount ?? 0;
  }

  /** The closed steps. */
  get steps(): readonly AgentStep[] {
    return this.stepExecutions.toArray().map((execution) => execution.step);
  }

  /** The closed steps with their times. */
  get stepExecutions(): List<StepExecution> {
    return this.execution?.stepExecutions ?? List.empty();
  }

  /** The open step. */
  get currentStep(): AgentStep | undefined {
    return this.execution?.currentStep;
  }

  /** The last closed step. */
  get lastStep(): AgentStep | undefined {
    return this.lastStepExecution?.step;
  }

  get lastStepType(): StepType | undefined {
    return this.lastStep?.type;
  }

  get lastStepExecution(): StepExecution | undefined {
    return this.execution?.lastStepExecution;
  }

  /** The last tool execution of the open step, or else of the latest closed step with one. */
  get lastToolExecution(): ToolExecution | undefined {
    const current = this.currentStep?.toolExecutions.at(-1);
    if (current) return current;
    for (let index = this.stepExecutions.length - 1; index >= 0; index--) {
      const last = this.stepExecutions.at(index)?.step.toolExecutions.at(-1);
      if (last) return last;
    }
    return undefined;
  }

  /** The stop signal with the highest rank. */
  get stopSignal(): StopSignal | undefined {
    return this.execution?.continuation.highest;
  }

  get stopReason(): StopReason | undefined {
    return this.stopSignal?.reason;
  }

  /** An alias of `stopReason`. */
  get lastStopReason(): StopReason | undefined {
    return this.stopReason;
  }

  /** True when the loop would stop now. */
  get shouldStop(): boolean {
    return this.execution?.shouldStop ?? false;
  }

  /** The usage of this execution, the open step included. */
  get usage(): Usage {
    return this.execution?.usage ?? Usage.none;
  }

  /** The cost of this execution in US dollars; `undefined` when no price is known. */
  get cost(): number | undefined {
    return this.usage.cost;
  }

  /** All errors of this execution in order, also those that it recovered from. */
  get errors(): readonly ErrorRecord[] {
    return this.execution?.allErrors ?? NOTHING;
  }

  get hasErrors(): boolean {
    return this.errors.length > 0;
  }

  /**
   * Returns the seconds of wall-clock time from the start of the execution to its end or to `now`; 0 without an
   * execution.
   */
  executionDurationAt(now: Instant = systemClock.now()): number {
    return this.execution?.duration(now) ?? 0;
  }

  /** The seconds of wall-clock time; for an active execution, up to the latest start or end of a step or tool call. */
  get executionDuration(): number {
    return this.executionDurationAt(this.execution && latestInstantOf(this.execution));
  }

  /**
   * Returns the effective request of a step of this execution. If the model was not called yet, the state's settings
   * apply.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not a step.
   */
  requestOf(step: AgentStep): EffectiveRequest {
    if (!(step instanceof AgentStep))
      throw wrongArgument(step, 'a step of the state, such as state.lastStep or state.currentStep');
    const { request } = step;
    const llmConfig = request?.llmConfig ?? this.execution?.llmConfig ?? this.llmConfig;
    return Object.freeze({
      model: request?.model ?? llmConfig?.model,
      llmConfig: filledSettings(llmConfig),
      toolChoice: request?.toolChoice ?? 'auto',
      ...(request?.form && { form: request.form }),
      ...(request?.shortenedTo !== undefined && { shortenedTo: request.shortenedTo }),
    });
  }

  /** True when the execution has a final response. An aborted response is not a final response. */
  get hasFinalResponse(): boolean {
    return this.lastStep?.isFinalResponse ?? false;
  }

  /** The text of the final response; `undefined` without a final response. */
  get finalResponse(): string | undefined {
    return this.hasFinalResponse ? this.lastStep?.text : undefined;
  }

  /** The text of the final response, or else of the latest step. */
  get currentResponse(): string | undefined {
    return this.finalResponse ?? this.execution?.latestStep?.text;
  }

  /** Returns a summary of the state, for a log or a test. */
  debug(): AgentStateDebug {
    const { execution } = this;
    return {
      status: this.status,
      executionCount: this.executionCount,
      hasExecution: execution !== undefined,
      executionId: this.executionId,
      steps: this.stepCount,
      continuation: execution?.explanation ?? 'no execution',
      hasErrors: this.hasErrors,
      errors: this.errors.map((error) => error.message),
      usage: this.usage.toJSON(),
    };
  }
}

/**
 * Returns the latest instant that an execution records: its end, or else the latest start or end of a step or tool
 * call. `updatedAt` of the state can be later, by the clock of another machine.
 */
function latestInstantOf(execution: ExecutionState): Instant {
  const { currentStep, currentStepStartedAt, lastStepExecution, startedAt, completedAt } = execution;
  if (completedAt !== undefined) return completedAt;
  if (currentStep === undefined) return lastStepExecution?.completedAt ?? startedAt;
  const times = currentStep.toolExecutions.flatMap((call) => latestInstantOfCall(call) ?? []);
  return Math.max(currentStepStartedAt ?? startedAt, ...times);
}

/** Returns the latest instant that a call records; `undefined` when it records none. */
function latestInstantOfCall(call: ToolExecution): Instant | undefined {
  const { approval, startedAt, completedAt } = call;
  if (call.isAwaitingApproval) return approval?.requestedAt;
  return completedAt ?? startedAt ?? approval?.decision?.at;
}
