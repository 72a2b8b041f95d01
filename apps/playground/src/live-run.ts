import { isTerminal } from '@holdfast/core/engine';
import type { AgentEvent, AgentSession, AgentState, Instant } from '@holdfast/core';
import type { UIMessageChunk } from 'ai';
import { toSessionView } from './session-view.ts';
import type { SessionView } from './session-view.ts';
import { nothingStreamed, progressChunks, toUiChunks } from './ui-stream.ts';

/** Somebody who gets the chunks as they come. */
interface Follower {
  readonly skipEarlier: boolean;
  put(chunk: UIMessageChunk): void;
  end(): void;
}

/**
 * A run of one session in this process, and all that it has streamed. It goes on whether anybody follows or not;
 * who comes late gets everything from the beginning.
 */
export class LiveRun {
  private readonly chunks: UIMessageChunk[] = [];
  private readonly followers = new Set<Follower>();
  private readonly controller = new AbortController();
  private session: AgentSession;
  private progress = nothingStreamed;
  private isOver = false;
  /** The last chunk, which is said when the end is saved. */
  private last: UIMessageChunk | undefined;
  /** How many chunks, after the first, tell of what was done before this run began. */
  private earlier = 0;

  constructor(session: AgentSession) {
    this.session = session;
  }

  /** Aborts when the run is to end. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Tells the run to end; the reason says in which way. */
  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Takes in what happened. */
  readonly onEvent = (event: AgentEvent): void => {
    const { chunks, progress } = toUiChunks(event, this.progress);
    this.progress = progress;
    for (const chunk of chunks) {
      if (LAST.has(chunk.type)) this.last = chunk;
      else this.put(chunk);
    }
    if (event.type === 'execution-resumed') this.replayFinishedSteps(event);
    if (STATE_CHANGES.has(event.type)) this.showState(event.state);
  };

  /** Takes in that the session was saved: its version and, from now on, its other facts. */
  onSaved(session: AgentSession): void {
    this.session = session;
    this.showState(session.state);
  }

  /** Nothing more will come. An error is one of the storage: those of the agent are in its state. */
  finish(error?: Error): void {
    const last: UIMessageChunk | undefined = error ? { type: 'error', errorText: error.message } : this.last;
    if (last) this.put(last);
    this.isOver = true;
    for (const follower of this.followers) follower.end();
    this.followers.clear();
  }

  /**
   * Everything from the beginning and then as it comes. A reader who leaves harms nobody.
   * `skipEarlier`: without what was done before this run, for a reader who has it.
   */
  follow({ skipEarlier = false } = {}): ReadableStream<UIMessageChunk> {
    let follower: Follower | undefined;
    return new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        controller.enqueue(this.stateChunk(this.session.state));
        this.chunks.forEach((chunk, index) => {
          if (!(skipEarlier && index > 0 && index <= this.earlier)) controller.enqueue(chunk);
        });
        if (this.isOver) return controller.close();
        follower = { skipEarlier, put: (chunk) => controller.enqueue(chunk), end: () => controller.close() };
        this.followers.add(follower);
      },
      cancel: () => {
        if (follower) this.followers.delete(follower);
      },
    });
  }

  private put(chunk: UIMessageChunk, isEarlier = false): void {
    this.chunks.push(chunk);
    for (const follower of this.followers) if (!(isEarlier && follower.skipEarlier)) follower.put(chunk);
  }

  /** The state is worth telling to those who follow now, and not worth keeping. */
  private showState(state: AgentState): void {
    if (this.followers.size === 0) return;
    const chunk = this.stateChunk(state);
    for (const follower of this.followers) follower.put(chunk);
  }

  private stateChunk(state: AgentState): UIMessageChunk {
    const data: SessionView = toSessionView(this.session.withState(state), isGoingOn(state));
    return { type: 'data-state', data, transient: true };
  }

  /** A resumed execution is shown from its beginning: as if what was done before had just happened. */
  private replayFinishedSteps({ state, at }: AgentEvent): void {
    const before = this.chunks.length;
    for (const event of eventsBefore(state, at)) {
      for (const chunk of toUiChunks(event, nothingStreamed).chunks) this.put(chunk, true);
    }
    this.earlier = this.chunks.length - before;
    for (const execution of state.currentStep?.toolExecutions ?? []) {
      for (const chunk of progressChunks(execution)) this.put(chunk);
    }
  }
}

function isGoingOn({ status }: AgentState): boolean {
  return !isTerminal(status) && status !== 'suspended';
}

/** What was shown of an execution before it was taken up: its finished steps, and the answer of the one in progress. */
function eventsBefore(state: AgentState, at: Instant): readonly AgentEvent[] {
  const { currentStep } = state;
  if (currentStep === undefined) return finishedSteps(state, at);
  const { id: stepId, response } = currentStep;
  return [
    ...finishedSteps(state, at),
    { type: 'step-started', stepNumber: state.stepCount, stepId, at, state },
    ...(response ? [{ type: 'inference-completed' as const, response, stepId, at, state }] : []),
  ];
}

function finishedSteps(state: AgentState, at: Instant): readonly AgentEvent[] {
  return state.stepExecutions.toArray().flatMap((stepExecution, index): readonly AgentEvent[] => {
    const { id: stepId, response, toolExecutions } = stepExecution.step;
    const common = { stepId, at, state };
    return [
      { type: 'step-started', stepNumber: index + 1, ...common },
      ...(response ? [{ type: 'inference-completed' as const, response, ...common }] : []),
      ...toolExecutions.map((toolExecution) => ({
        type: 'tool-completed' as const,
        toolExecution,
        ...common,
      })),
      { type: 'step-completed', stepExecution, stepNumber: index + 1, at, state },
    ];
  });
}

const LAST: ReadonlySet<UIMessageChunk['type']> = new Set(['finish', 'abort', 'error']);
const STATE_CHANGES: ReadonlySet<AgentEvent['type']> = new Set([
  'execution-started',
  'execution-resumed',
  'execution-suspended',
  'execution-stopped',
  'execution-completed',
  'step-started',
  'step-completed',
  'inference-completed',
  'tool-started',
  'tool-completed',
  'tool-blocked',
  'stop-signal-raised',
]);
