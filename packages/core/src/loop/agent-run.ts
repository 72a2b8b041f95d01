import type { Clock, Instant } from '../clock.ts';
import { secondsBetween } from '../clock.ts';
import { HoldfastError } from '../errors.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { AgentStop } from '../state/continuation.ts';
import { isAgentStop, stopSignal } from '../state/continuation.ts';
import type { StopSignal } from '../state/continuation.ts';
import type { ToolExecutionId } from '../state/ids.ts';
import { ExecutionId, StepId, ToolExecutionId as ToolExecutionIds } from '../state/ids.ts';
import { InferenceResponse } from '../state/inference.ts';
import type { InferenceResponseInit } from '../state/inference.ts';
import type { ToolCallPart } from '../state/messages.ts';
import { newStepMessageIds } from '../state/step.ts';
import { ToolExecution } from '../state/tool-execution.ts';
import { toErrorRecord } from '../state/error-record.ts';
import { abortKind, abortMessage, holdOnYield } from './abort.ts';
import type { AbortKind, HeldSignal } from './abort.ts';
import type { MessageCompiler } from './compile-messages.ts';
import type { Driver, InferenceDelta, InferenceRequest, ToolChoice } from './driver.ts';
import type { AgentEventListener, Happening } from './events.ts';
import { announceTo, happeningsBetween } from './events.ts';
import type {
  Hook,
  HookContext,
  InferenceChange,
  ResponseChange,
  ToolCallChange,
  ToolExecutionChange,
} from './hook.ts';
import type { HookChain, StatePoint } from './hook-chain.ts';
import type { Outcome } from './stepper.ts';
import { apply, next } from './stepper.ts';
import type { Tool } from './tool.ts';
import { ToolExecutionBlockedError } from './tool.ts';
import type { FinishedTool } from './tool-runner.ts';
import { interrupted, runTool } from './tool-runner.ts';

/** What a loop is made of; see `AgentLoopOptions`. */
export interface LoopParts {
  readonly driver: Driver;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolList: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly hooks: HookChain;
  readonly compile: MessageCompiler;
  readonly toolErrors: 'continue' | 'fail';
  readonly maxParallelTools: number;
  readonly clock: Clock;
}

/** What is given to one run. */
export interface RunParts {
  readonly signal: AbortSignal;
  readonly listeners: readonly AgentEventListener[];
}

/**
 * One run in progress: the interpreter of the stepper. It owns the only variable there is, the present state, and
 * changes it in one place. Every error of a driver, tool or hook ends up in the state; nothing is thrown.
 */
export class AgentRun {
  state: AgentState;
  private readonly loop: LoopParts;
  private readonly run: RunParts;
  /** Set when the run is to be left as it is: another process goes on with it. */
  private left: AbortKind | undefined;
  /** Since when work was not yet counted. */
  private workingSince: Instant;
  /** While the end is prepared: it is announced as one change. */
  private isQuiet = false;
  private readonly toolSignal: HeldSignal;

  constructor(state: AgentState, loop: LoopParts, run: RunParts) {
    this.state = state;
    this.loop = loop;
    this.run = run;
    this.workingSince = loop.clock.now();
    this.toolSignal = holdOnYield(run.signal);
  }

  /**
   * BeforeExecution. Takes up what there is: a new execution, or one that was left unfinished. False when there is
   * nothing to take up: it waits, or is another's.
   */
  async begin(): Promise<boolean> {
    const { status } = this.state;
    if (status === 'suspended' || this.isLost()) return false;
    const { clock } = this.loop;
    const executionId = ExecutionId.create(clock);
    this.advance({ type: 'started', executionId, at: this.now() });
    this.emit({ type: status === 'inProgress' ? 'execution-resumed' : 'execution-started' });
    await this.guarded(() => this.callStateHooks('beforeExecution'));
    await this.closeInterruptedTools();
    return true;
  }

  /** One step: BeforeStep, inference, tools, AfterStep. False when there is no step to take. */
  async step(): Promise<boolean> {
    const stepsBefore = this.state.stepExecutions.length;
    this.workingSince = this.now();
    await this.guarded(async () => {
      if (next(this.state).type === 'beginStep') await this.beginStep();
      if (next(this.state).type === 'infer') await this.infer();
      if (next(this.state).type === 'runTools' && !(await this.runTools())) return;
      if (next(this.state).type === 'closeStep' && !this.hasLeft()) await this.callStateHooks('afterStep');
    });
    if (this.state.currentStep && next(this.state).type !== 'wait' && !this.hasLeft()) this.closeStep();
    return this.state.stepExecutions.length > stepsBefore;
  }

  /** OnStop for forced stops, then AfterExecution; gives the execution its terminal status. */
  async finish(): Promise<void> {
    if (this.isLost()) return;
    const isOver = next(this.state).type === 'none';
    if (!isOver && !this.isEnding()) return this.countWork();
    if (!isOver && this.state.execution?.continuation.wasForceStopped) await this.callEach('onStop');
    if (this.isLost()) return;
    this.countWork();
    const before = this.state;
    this.isQuiet = true;
    if (!isOver) this.advance({ type: 'finished', at: this.now() });
    await this.callEach('afterExecution');
    this.isQuiet = false;
    this.announce(before, this.state);
  }

  /** A cancelled run ends, even if a hook asked for another step. */
  private isEnding(): boolean {
    const { type } = next(this.state);
    return !this.left && (type === 'finish' || (type === 'beginStep' && this.checkAbort() === 'cancel'));
  }

  /** Lets go of the caller's signal. */
  dispose(): void {
    this.toolSignal.release();
  }

  // Steps

  private async beginStep(): Promise<void> {
    if (this.checkAbort()) return;
    await this.callStateHooks('beforeStep');
    if (this.checkAbort() || next(this.state).type !== 'beginStep') return;
    const { clock, compile } = this.loop;
    const [stepId, input] = [StepId.create(clock), compile(this.state)];
    this.advance({ type: 'stepBegun', stepId, input, at: clock.now() });
  }

  private closeStep(): void {
    this.countWork();
    const { clock } = this.loop;
    this.advance({ type: 'stepClosed', messageIds: newStepMessageIds(clock), at: this.now() });
  }

  /** Calls that an earlier process started and did not finish. */
  private async closeInterruptedTools(): Promise<void> {
    for (const running of this.state.currentStep?.toolExecutions.filter(({ isRunning }) => isRunning) ?? []) {
      const toolExecution = running.withOutcome(interrupted(running), this.now());
      await this.guarded(() => this.finishTool({ toolExecution }));
    }
  }

  // Inference

  private async infer(): Promise<void> {
    if (this.checkAbort()) return;
    const request = await this.request();
    if (this.checkAbort() || next(this.state).type !== 'infer') return;
    this.emit({ type: 'inference-started', stepId: this.stepId, messageCount: request.messages.length });
    const answer = await this.answer(request);
    if (answer === undefined) return;
    const response = await this.takeAnswer(answer);
    if (response.finishReason === 'error') {
      throw new HoldfastError('DRIVER_FAILED', 'The model ended its answer with an error.', {
        data: { rawFinishReason: response.rawFinishReason },
      });
    }
  }

  private async request(): Promise<InferenceRequest> {
    const { state, loop } = this;
    let request: InferenceRequest = {
      messages: state.currentStep?.input ?? state.messages,
      systemPrompt: state.systemPrompt,
      tools: loop.toolList,
      toolChoice: loop.toolChoice,
      responseFormat: state.responseFormat,
      llmConfig: state.llmConfig,
    };
    for (const hook of loop.hooks.at('beforeInference')) {
      const change = await loop.hooks.call<InferenceChange>(hook, 'beforeInference', request, this.context);
      if (change?.state) this.change(change.state);
      request = change?.request ?? request;
    }
    return request;
  }

  /** The driver's answer; `undefined` when the run was aborted before there was one worth keeping. */
  private async answer(request: InferenceRequest): Promise<InferenceResponse | undefined> {
    const { signal, listeners } = this.run;
    const { stepId } = this;
    let isOpen = true;
    const report = (delta: InferenceDelta): void => {
      if (isOpen && !this.isLost()) this.emit({ type: 'inference-delta', stepId, delta });
    };
    try {
      const onDelta = listeners.length === 0 ? undefined : report;
      const response = InferenceResponse.of(await this.loop.driver.infer(request, { signal, onDelta }));
      const kind = this.checkAbort();
      const isWhole = response.finishReason !== 'aborted';
      return kind === 'lost' || (kind === 'yield' && !isWhole) ? undefined : response;
    } catch (error) {
      const partial = partialResponseOf(error);
      if (this.checkAbort()) {
        return this.left ? undefined : InferenceResponse.of({ ...partial, finishReason: 'aborted' });
      }
      if (partial) this.takeResponse(InferenceResponse.of({ ...partial, finishReason: 'error' }));
      throw error;
    } finally {
      isOpen = false;
    }
  }

  /** Asks the hooks. Whatever they throw, the answer was paid for and is kept. */
  private async takeAnswer(answer: InferenceResponse): Promise<InferenceResponse> {
    let response = answer;
    try {
      for (const hook of this.loop.hooks.at('afterInference')) {
        const change = await this.loop.hooks.call<ResponseChange>(
          hook,
          'afterInference',
          response,
          this.context,
        );
        if (change?.state) this.change(change.state);
        response = change?.response ?? response;
      }
    } finally {
      if (!this.isLost()) this.takeResponse(response);
    }
    return response;
  }

  private takeResponse(response: InferenceResponse): void {
    this.advance({ type: 'inferred', response, at: this.now() });
  }

  // Tools

  /**
   * Runs the calls side by side; what they come to is taken in one after the other, as they end. False when a hook
   * threw: what runs then may end, and nothing more is started.
   */
  private async runTools(): Promise<boolean> {
    const waiting = [...(this.state.currentStep?.pendingToolCalls ?? [])];
    const running = new Map<ToolExecutionId, Promise<FinishedTool>>();
    let isFine = true;
    const start = async (call: ToolCallPart): Promise<void> => {
      const execution = await this.startTool(call);
      if (execution) running.set(execution.id, this.carryOut(execution));
    };
    const keepGoing = async (work: () => Promise<void>): Promise<void> => {
      isFine = (await this.guarded(work)) && isFine;
    };
    while (waiting.length > 0 || running.size > 0) {
      while (waiting.length > 0 && running.size < this.loop.maxParallelTools && !this.mustStartNothing()) {
        await keepGoing(() => start(waiting.shift() as ToolCallPart));
      }
      if (running.size === 0) break;
      const finished = await Promise.race(running.values());
      running.delete(finished.toolExecution.id);
      await keepGoing(() => this.finishTool(finished));
    }
    return isFine;
  }

  private mustStartNothing(): boolean {
    return this.checkAbort() !== undefined || next(this.state).type !== 'runTools';
  }

  /** Asks the hooks, then marks the call as started; `undefined` when it must not run. */
  private async startTool(requested: ToolCallPart): Promise<ToolExecution | undefined> {
    let call = requested;
    const { hooks, clock } = this.loop;
    for (const hook of hooks.at('beforeToolUse')) {
      const change = await hooks.call<ToolCallChange>(hook, 'beforeToolUse', call, this.context);
      if (change?.state) this.change(change.state);
      call = change?.call ?? call;
      if (change?.block !== undefined) {
        await this.blockTool(call, change.block);
        return undefined;
      }
      if (this.mustStartNothing()) return undefined;
    }
    const at = clock.now();
    const toolExecution = ToolExecution.started(call, at, this.newToolExecutionId());
    this.advance({ type: 'toolAdvanced', toolExecution, at });
    return toolExecution;
  }

  private async blockTool(call: ToolCallPart, reason: string): Promise<void> {
    const at = this.now();
    const error = new ToolExecutionBlockedError(call.toolName, reason);
    const intended = ToolExecution.intended(call, this.newToolExecutionId());
    await this.finishTool({
      toolExecution: intended.withOutcome({ type: 'blocked', error: toErrorRecord(error) }, at),
    });
  }

  private carryOut(execution: ToolExecution): Promise<FinishedTool> {
    const { tools, clock } = this.loop;
    return runTool(execution, { tools, clock, state: this.state, signal: this.toolSignal.signal });
  }

  private async finishTool({ toolExecution, stop }: FinishedTool): Promise<void> {
    let execution = toolExecution;
    if (this.isLost()) return;
    this.advance({ type: 'toolAdvanced', toolExecution: execution, at: this.now() });
    for (const hook of this.loop.hooks.at('afterToolUse')) {
      const change = await this.loop.hooks.call<ToolExecutionChange>(
        hook,
        'afterToolUse',
        execution,
        this.context,
      );
      if (change?.state) this.change(change.state);
      if (change?.toolExecution === undefined) continue;
      execution = change.toolExecution;
      this.advance({ type: 'toolAdvanced', toolExecution: execution, at: this.now() });
    }
    if (stop) this.raise(stop);
    const wasAborted = execution.outcome?.type === 'interrupted' && this.run.signal.aborted;
    if (this.loop.toolErrors === 'fail' && execution.rule?.canFailExecution && !wasAborted) {
      const message = `Tool "${execution.name}" failed: ${execution.error?.message ?? ''}`;
      this.raise({ reason: 'errorForbade', message, source: 'toolErrors' });
    }
  }

  // The state, in one place

  /** Does some of the work; an error in it becomes part of the state. False when there was one. */
  private async guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.isLost()) await (isAgentStop(error) ? this.takeStop(error) : this.takeError(error));
      return false;
    }
  }

  private takeStop({ signal }: AgentStop): void {
    const isOver = this.state.execution?.isTerminal;
    this.raise(signal);
    if (isOver) this.advance({ type: 'finished', at: this.now() });
  }

  private async takeError(error: unknown): Promise<void> {
    if (this.state.execution?.isTerminal) this.change(this.state.withFailure(error, this.now()));
    else this.advance({ type: 'failed', error, at: this.now() });
    for (const hook of this.loop.hooks.at('onError')) {
      try {
        const state = await this.loop.hooks.call<AgentState>(hook, 'onError', error, this.context);
        if (state) this.change(state);
      } catch (secondError) {
        if (isAgentStop(secondError)) this.raise(secondError.signal);
        else this.change(this.state.withError(secondError, this.now()));
      }
    }
  }

  /** The hooks of a point, each of them whatever the one before threw. */
  private async callEach(point: StatePoint): Promise<void> {
    for (const hook of this.loop.hooks.at(point)) await this.guarded(() => this.callStateHook(hook, point));
  }

  private async callStateHooks(point: StatePoint): Promise<void> {
    for (const hook of this.loop.hooks.at(point)) await this.callStateHook(hook, point);
  }

  private async callStateHook(hook: Hook, point: StatePoint): Promise<void> {
    const state = await this.loop.hooks.call<AgentState>(hook, point, this.state, this.context);
    if (state) this.change(state);
  }

  /** Takes note of an abort, once. A cancel becomes a stop signal; otherwise the run is left as it is. */
  private checkAbort(): AbortKind | undefined {
    const kind = abortKind(this.run.signal);
    if (kind === 'cancel') {
      const signals = this.state.execution?.continuation.signals ?? [];
      const isNoted = signals.some(({ source }) => source === ABORT_SOURCE);
      const message = abortMessage(this.run.signal);
      if (!isNoted) this.raise(stopSignal({ reason: 'userRequested', message, source: ABORT_SOURCE }));
    } else if (kind !== undefined) this.left = kind;
    return kind;
  }

  /** Another process has the execution: from here on nothing is changed. */
  private isLost(): boolean {
    if (abortKind(this.run.signal) === 'lost') this.left = 'lost';
    return this.left === 'lost';
  }

  /** Is the step in progress to be left open, for another process? */
  private hasLeft(): boolean {
    return this.isLost() || this.left !== undefined;
  }

  private raise(signal: StopSignal): void {
    this.change(this.state.withStopSignal(signal, this.now()));
  }

  private countWork(): void {
    const now = this.now();
    this.state = this.state.withTimeWorked(secondsBetween(this.workingSince, now), now);
    this.workingSince = now;
  }

  private advance(outcome: Outcome): void {
    this.change(apply(this.state, outcome));
  }

  private change(state: AgentState): void {
    const before = this.state;
    this.state = state;
    this.announce(before, state);
  }

  private announce(before: AgentState, after: AgentState): void {
    if (this.run.listeners.length === 0 || this.isQuiet || before === after) return;
    for (const happening of happeningsBetween(before, after)) this.emit(happening);
  }

  private emit(happening: Happening): void {
    const { listeners } = this.run;
    if (listeners.length > 0) announceTo(listeners, { ...happening, at: this.now(), state: this.state });
  }

  private get context(): HookContext {
    return { state: this.state, signal: this.run.signal, clock: this.loop.clock };
  }

  private get stepId(): StepId {
    return this.state.currentStep?.id as StepId;
  }

  private newToolExecutionId(): ToolExecutionId {
    return ToolExecutionIds.create(this.loop.clock);
  }

  private now(): Instant {
    return this.loop.clock.now();
  }
}

const ABORT_SOURCE = 'abort';

/** What had arrived when a driver threw, if it says so. */
function partialResponseOf(error: unknown): InferenceResponse | undefined {
  if (typeof error !== 'object' || error === null || !('partialResponse' in error)) return undefined;
  try {
    return InferenceResponse.of(error.partialResponse as InferenceResponseInit);
  } catch {
    return undefined;
  }
}
