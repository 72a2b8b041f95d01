import { HoldfastError } from '../errors.ts';
import { toJsonValue, type JsonValue } from '../json.ts';
import { AgentState } from '../state/agent-state.ts';
import type { ExecutionBudget } from '../state/execution/budget.ts';
import type { AgentStep } from '../state/execution/step.ts';
import { isTerminal } from '../state/execution/status.ts';
import { Usage } from '../state/inference/usage.ts';
import type { Waiting } from '../state/values/waiting.ts';
import { CallSuspended } from '../loop/stopping/abort.ts';
import type { AgentLoop } from '../loop/agent-loop.ts';
import { eventOf, type AgentEvent, type AgentEventListener } from '../loop/steps/events.ts';
import type { InternalRunOptions, ParentRun } from '../loop/run/loop-parts.ts';
import { runningToolOf } from '../loop/run/running-tool.ts';
import { sizeOf } from '../loop/tools/result-size.ts';
import { parentBudget } from './parent-budget.ts';
import type { ToolContext } from '../loop/tools/tool-context.ts';

type Nesting = Pick<ParentRun, 'depth' | 'maxDepth'>;

/**
 * The depth of a subagent that this call runs. It depends only on the runs in progress, not on stored data or messages.
 */
export function nestingOf(context: ToolContext, maxDepth: number): Nesting {
  const parent = runningToolOf(context)?.given.parent;
  return { depth: (parent?.depth ?? 0) + 1, maxDepth: Math.min(maxDepth, parent?.maxDepth ?? maxDepth) };
}

/** One run of a subagent within a tool call. It passes progress and usage on as they occur. */
export class SubagentRun {
  private readonly name: string;
  private readonly context: ToolContext;
  private readonly nesting: Nesting;
  /** The latest state that was passed on. */
  private known: AgentState | undefined;
  /** The size of the state without an open step, in bytes of JSON. */
  private closedBytes = 0;
  /** By how much the latest state is larger than the store takes. */
  private excess: string | undefined;

  constructor(name: string, context: ToolContext, nesting: Nesting) {
    this.name = name;
    this.context = context;
    this.nesting = nesting;
  }

  /**
   * Runs the subagent to its end and returns its state. Resumes the state that an earlier attempt saved, or begins a
   * new one.
   * @throws the reason of the abort, with the state saved as progress; HoldfastError `SUBAGENT_FAILED` when the saved
   * state is unreadable, and when the store does not take the state.
   */
  async toEnd(
    loop: AgentLoop,
    begin: () => Promise<AgentState>,
    budget: ExecutionBudget,
    runContextOf: () => Promise<unknown>,
  ): Promise<AgentState> {
    const { signal, remaining } = this.context;
    const call = runningToolOf(this.context);
    const previous = this.previousState();
    if (isTerminal(previous?.status)) return previous as AgentState;
    const first = previous ?? (await begin());
    this.known = first;
    const options: InternalRunOptions = {
      runContext: await runContextOf(),
      signal,
      budget,
      changeGuards: (guards, cost) => [...guards, parentBudget(remaining, cost)],
      onEvent: this.listener(),
      checkpoint: call?.checkpoint((state) => this.save(state)),
      stepBytes: this.roomInside(first),
      onExhausted: call?.onExhausted,
      session: call?.given.session,
      awaitReader: call?.given.awaitReader,
      parent: { ...this.nesting, remaining, follow: (state) => this.follow(state) },
    };
    const last = await loop.run(first, options);
    if (canBeWaitedFor(last)) {
      this.save(last, last.execution?.waiting);
      throw new CallSuspended();
    }
    if (!signal.aborted || last.status === 'completed') return last;
    this.report(last, true);
    throw signal.reason;
  }

  private previousState(): AgentState | undefined {
    const { progress } = this.context;
    if (progress === undefined) return undefined;
    try {
      return AgentState.fromJSON(progress);
    } catch (cause) {
      const message = `Agent "${this.name}" cannot resume: the state that an earlier attempt saved is unreadable.`;
      throw new HoldfastError('SUBAGENT_FAILED', message, { cause });
    }
  }

  /** Saves the state after every change that costs money or has an effect, so that it is not repeated. */
  private follow(state: AgentState): void {
    this.report(state, hasProgressed(this.known, state));
  }

  /** @throws HoldfastError `SUBAGENT_FAILED` for a state that the store does not take. */
  private save(state: AgentState, waiting?: readonly Waiting[]): void {
    this.report(state, true, waiting);
    if (this.excess === undefined) return;
    const message = `Agent "${this.name}" failed: its state cannot be saved: it has ${this.excess}.`;
    throw new HoldfastError('SUBAGENT_FAILED', `${message}${lastTextOf(state)}`);
  }

  /**
   * The room for the open step of the subagent. When the step is closed, its response and its results are in its messages
   * too.
   */
  private roomInside(first: AgentState): InternalRunOptions['stepBytes'] {
    const shareBytes = runningToolOf(this.context)?.shareBytes;
    if (shareBytes === undefined) return undefined;
    this.closedBytes = sizeOf(toJsonValue(first));
    return () => Math.max(0, Math.floor((shareBytes() - this.closedBytes) / 4));
  }

  private report(state: AgentState, savesProgress: boolean, waiting: readonly Waiting[] = []): void {
    const used = state.usage.since(this.known?.usage ?? Usage.none);
    this.known = state;
    if (used === Usage.none && !savesProgress) return;
    const progress = savesProgress ? toJsonValue(state) : undefined;
    const call = runningToolOf(this.context);
    if (call) {
      if (call.shareBytes && progress !== undefined && state.currentStep === undefined)
        this.closedBytes = sizeOf(progress);
      this.excess = call.addUsageAndProgress(used, progress, waiting);
      return;
    }
    if (used !== Usage.none) this.context.addUsage(used);
    if (progress !== undefined) this.context.saveProgress(progress);
  }

  /** Passes events on only when the outer run has listeners; without a listener, a driver need not stream. */
  private listener(): AgentEventListener | undefined {
    const call = runningToolOf(this.context);
    if (call?.given.listeners.length === 0) return undefined;
    const { emit, state, toolCallId } = this.context;
    return (event: AgentEvent) => {
      const happening = { type: 'subagent', toolCallId, toolName: this.name, event } as const;
      if (call) call.announce(happening);
      else emit(eventOf(happening, { ...event, state, executionId: state.executionId ?? event.executionId }));
    };
  }
}

const CAN_WAIT_INSIDE: ReadonlySet<Waiting['type']> = new Set(['approval', 'answer', 'until', 'retry']);

/**
 * True when the agent waits only for entries that can be resolved inside a call: decisions, answers, instants and
 * retries.
 */
function canBeWaitedFor({ execution }: AgentState): boolean {
  const waiting = execution?.waiting ?? [];
  return waiting.length > 0 && waiting.every(({ type }) => CAN_WAIT_INSIDE.has(type));
}

/** True when a response arrived, a tool execution changed, or a step was closed. */
function hasProgressed(before: AgentState | undefined, { execution: is }: AgentState): boolean {
  const was = before?.execution;
  return (
    was?.currentStep?.response !== is?.currentStep?.response ||
    was?.currentStep?.toolExecutions !== is?.currentStep?.toolExecutions ||
    was?.stepExecutions !== is?.stepExecutions
  );
}

// Errors

/** The error for an agent that would be nested too deep. */
export function depthExceeded(name: string, maxDepth: number): HoldfastError {
  const message = `Agent "${name}" was not called: it would exceed the maximum depth of ${maxDepth} nested agents. Do the task yourself.`;
  return new HoldfastError('SUBAGENT_DEPTH_EXCEEDED', message, { data: { maxDepth } });
}

/** The characters of a partial response that the calling model reads. */
const MAX_PARTIAL_LENGTH = 10_000;

/** The kinds of calls of a subagent that the calling model reads. */
const MAX_NAMES = 20;

/** Describes the work of an interrupted agent by its saved state, in words for the calling model. */
export function completedWork(name: string, progress: JsonValue): string {
  const agent = AgentState.fromJSON(progress);
  const calls = stepsOf(agent).flatMap(({ toolExecutions }) => toolExecutions);
  const counts = new Map<string, number>();
  for (const call of calls)
    if (call.outcome?.type === 'succeeded') counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  const names = [...counts].map(([tool, count]) => (count === 1 ? tool : `${tool} (${count} times)`));
  const completed = names.length === 0 ? 'no calls' : `these calls: ${names.slice(0, MAX_NAMES).join(', ')}`;
  return `Until then agent "${name}" had completed ${completed}.${lastTextOf(agent)}`;
}

function lastTextOf(agent: AgentState): string {
  const partial = stepsOf(agent).findLast(({ text }) => text !== '')?.text;
  return partial === undefined
    ? ''
    : ` Its last text: ${partial.slice(0, MAX_PARTIAL_LENGTH).toWellFormed()}`;
}

function stepsOf({ steps, currentStep }: AgentState): readonly AgentStep[] {
  return [...steps, ...(currentStep ? [currentStep] : [])];
}

/** The error for an agent without a final response, in words for the calling model. */
export function subagentFailed(name: string, agent: AgentState): HoldfastError {
  const { status, stopReason, agentId, execution, errors } = agent;
  const uncaught = [...(execution?.latestStep?.errors ?? []), ...(execution?.errors ?? [])];
  const cause = uncaught.at(-1) ?? errors.at(-1);
  const codes = [...new Set(errors.flatMap(({ code }) => code ?? []))];
  return new HoldfastError(
    'SUBAGENT_FAILED',
    `Agent "${name}" ${describeEnd(agent, cause?.message)}${lastTextOf(agent)}`,
    {
      cause,
      data: { agentId, status, stopReason, codes },
    },
  );
}

function describeEnd({ status, stopSignal, execution }: AgentState, error: string | undefined): string {
  const why = error ?? stopSignal?.message ?? 'the reason is unknown.';
  if (status === 'failed') return `failed: ${why}`;
  if (status === 'stopped') return `was stopped before its final response: ${stopSignal?.message ?? why}`;
  if (status === 'completed') return 'completed without a final response.';
  const waiting = execution?.waiting.map(({ type }) => type).join(', ') ?? 'nothing';
  return `waits for ${waiting}, which is not possible inside a call.`;
}
