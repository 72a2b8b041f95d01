import type { Instant } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { ErrorRecord } from './values/error-record.ts';
import type { AgentContext } from './context.ts';
import type { StopReason, StopSignal } from './execution/continuation.ts';
import type { ExecutionState } from './execution/execution.ts';
import type { ExecutionStatus } from './execution/status.ts';
import type { AgentId, ExecutionId } from './values/ids.ts';
import type { LlmConfig, ResponseFormat } from './llm-config.ts';
import type { EffectiveRequest } from './inference/request.ts';
import { filledSettings } from './inference/request.ts';
import { Usage } from './inference/usage.ts';
import { List } from './values/list.ts';
import type { MessageStore } from './messages/message-store.ts';
import type { Messages } from './messages/messages.ts';
import type { Metadata } from './metadata.ts';
import type { StepExecution } from './execution/step-execution.ts';
import type { StepType } from './execution/step.ts';
import { AgentStep } from './execution/step.ts';
import { wrongArgument } from '../arguments.ts';
import type { ToolExecution } from './execution/tool-execution.ts';

/** The members of a state; all else follows from them. */
export type AgentStateFields = Pick<
  AgentStateView,
  | 'agentId'
  | 'parentAgentId'
  | 'createdAt'
  | 'updatedAt'
  | 'executionCount'
  | 'llmConfig'
  | 'context'
  | 'execution'
>;

/** The facts of a state at one glance. */
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

const NOTHING: readonly never[] = Object.freeze([]);

/** What a state tells: its members, and what follows from them. `AgentState` adds the transitions. */
export abstract class AgentStateView {
  readonly agentId: AgentId;
  readonly parentAgentId: AgentId | undefined;
  readonly createdAt: Instant;
  /** When the state last changed; never goes back. */
  readonly updatedAt: Instant;
  /** How many executions were begun. */
  readonly executionCount: number;
  readonly llmConfig: LlmConfig | undefined;
  readonly context: AgentContext;
  /** The run in progress, or the last one until the next begins. */
  readonly execution: ExecutionState | undefined;

  /** Not frozen yet. @internal */
  protected constructor(fields: AgentStateFields) {
    this.agentId = fields.agentId;
    this.parentAgentId = fields.parentAgentId;
    this.createdAt = fields.createdAt;
    this.updatedAt = fields.updatedAt;
    this.executionCount = fields.executionCount;
    this.llmConfig = fields.llmConfig;
    this.context = fields.context;
    this.execution = fields.execution;
  }

  // What it knows

  /** All messages in their sections. */
  get store(): MessageStore {
    return this.context.store;
  }

  /** The conversation: the `messages` section. What a model sees of it is a compiler's choice. */
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

  // How far it has got

  /** `undefined` exactly when there is no execution. */
  get status(): ExecutionStatus | undefined {
    return this.execution?.status;
  }

  get executionId(): ExecutionId | undefined {
    return this.execution?.executionId;
  }

  /** True while an execution is neither absent nor over. */
  get hasActiveExecution(): boolean {
    return this.execution !== undefined && !this.execution.isTerminal;
  }

  /** Steps of this execution, the current one included. Never counted from messages. */
  get stepCount(): number {
    return this.execution?.stepCount ?? 0;
  }

  /** Finished steps. */
  get steps(): readonly AgentStep[] {
    return this.stepExecutions.toArray().map((execution) => execution.step);
  }

  /** Finished steps with their times. */
  get stepExecutions(): List<StepExecution> {
    return this.execution?.stepExecutions ?? List.empty();
  }

  /** The step in progress. */
  get currentStep(): AgentStep | undefined {
    return this.execution?.currentStep;
  }

  /** The last finished step. */
  get lastStep(): AgentStep | undefined {
    return this.lastStepExecution?.step;
  }

  get lastStepType(): StepType | undefined {
    return this.lastStep?.type;
  }

  get lastStepExecution(): StepExecution | undefined {
    return this.execution?.lastStepExecution;
  }

  /** The tool execution that stands last, in the current step or before it. */
  get lastToolExecution(): ToolExecution | undefined {
    const current = this.currentStep?.toolExecutions.at(-1);
    if (current) return current;
    for (let index = this.stepExecutions.length - 1; index >= 0; index--) {
      const last = this.stepExecutions.at(index)?.step.toolExecutions.at(-1);
      if (last) return last;
    }
    return undefined;
  }

  /** The stop signal that ranks first. */
  get stopSignal(): StopSignal | undefined {
    return this.execution?.continuation.highest;
  }

  get stopReason(): StopReason | undefined {
    return this.stopSignal?.reason;
  }

  /** The same as `stopReason`. */
  get lastStopReason(): StopReason | undefined {
    return this.stopReason;
  }

  /** Would the loop stop now? */
  get shouldStop(): boolean {
    return this.execution?.shouldStop ?? false;
  }

  /** What this execution used, the current step included. */
  get usage(): Usage {
    return this.execution?.usage ?? Usage.none;
  }

  /** What this execution cost in US dollars; `undefined` when no price is known. */
  get cost(): number | undefined {
    return this.usage.cost;
  }

  /** All errors of this execution, in order; those that were recovered from too. */
  get errors(): readonly ErrorRecord[] {
    return this.execution?.allErrors ?? NOTHING;
  }

  get hasErrors(): boolean {
    return this.errors.length > 0;
  }

  /** Seconds by the clock on the wall, from the start to the end or `now`; 0 without an execution. */
  executionDurationAt(now: Instant = systemClock.now()): number {
    return this.execution?.duration(now) ?? 0;
  }

  /** Seconds by the clock on the wall; of an execution in progress, up to the latest start or end of a step or tool. */
  get executionDuration(): number {
    return this.executionDurationAt(this.execution && latestInstantOf(this.execution));
  }

  /**
   * What the model of a step of this execution was called with; of one that was not called yet, what the state says.
   * @throws TypeError `ARGUMENT_INVALID` for what is not a step.
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
    });
  }

  /** True when the execution has come to an answer; one that was aborted is not one. */
  get hasFinalResponse(): boolean {
    return this.lastStep?.isFinalResponse ?? false;
  }

  /** The text of the answer that ended the execution; `undefined` when there is none. */
  get finalResponse(): string | undefined {
    return this.hasFinalResponse ? this.lastStep?.text : undefined;
  }

  /** The final response, else what the latest step said. */
  get currentResponse(): string | undefined {
    return this.finalResponse ?? this.execution?.latestStep?.text;
  }

  /** The facts at one glance, for a log or a test. */
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
 * The latest moment that an execution records: its end, else that of a step or tool that began or ended. `updatedAt` of
 * the agent may be ahead of it, by another machine's clock.
 */
function latestInstantOf(execution: ExecutionState): Instant {
  const { currentStep, currentStepStartedAt, lastStepExecution, startedAt, completedAt } = execution;
  if (completedAt !== undefined) return completedAt;
  if (currentStep === undefined) return lastStepExecution?.completedAt ?? startedAt;
  const times = currentStep.toolExecutions.flatMap((call) => latestInstantOfCall(call) ?? []);
  return Math.max(currentStepStartedAt ?? startedAt, ...times);
}

/** The latest moment that is recorded of a call; `undefined` when nothing was done for it. */
function latestInstantOfCall(call: ToolExecution): Instant | undefined {
  const { approval, startedAt, completedAt } = call;
  if (call.isAwaitingApproval) return approval?.requestedAt;
  return completedAt ?? startedAt ?? approval?.decision?.at;
}
