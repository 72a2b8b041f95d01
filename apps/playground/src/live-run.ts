import { isTerminal } from '@holdfast/core/engine';
import type { AgentEvent, AgentSession, AgentState } from '@holdfast/core';
import type { EventFrame } from '@holdfast/core/engine';
import type { UIMessageChunk } from 'ai';
import { toSessionView } from './session-view.ts';
import type { SessionView } from './session-view.ts';
import { nothingStreamed, progressChunks, toUiChunks } from './ui-stream.ts';

/** A reader of the chunks as they come. */
interface Follower {
  readonly skipEarlier: boolean;
  put(chunk: UIMessageChunk): void;
  end(): void;
}

/**
 * A run of one session in this process, and all chunks that it has streamed. It does not need a follower; a late follower
 * gets all chunks from the beginning.
 */
export class LiveRun {
  private readonly chunks: UIMessageChunk[] = [];
  private readonly followers = new Set<Follower>();
  private readonly controller = new AbortController();
  private session: AgentSession;
  private progress = nothingStreamed;
  private isOver = false;
  /** The last chunk, which is sent when the end is saved. */
  private last: UIMessageChunk | undefined;
  /** How many chunks, after the first, show work before this run. */
  private earlier = 0;

  constructor(session: AgentSession) {
    this.session = session;
  }

  /** Aborts when the run must end. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts the run; the reason says in which way. */
  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Adds the chunks of an event. */
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

  /** Uses the saved session, with its version, from now on. */
  onSaved(session: AgentSession): void {
    this.session = session;
    this.showState(session.state);
  }

  /** Ends the stream. The error is one of the storage: errors of the agent are in its state. */
  finish(error?: Error): void {
    const last: UIMessageChunk | undefined = error ? { type: 'error', errorText: error.message } : this.last;
    if (last) this.put(last);
    this.isOver = true;
    for (const follower of this.followers) follower.end();
    this.followers.clear();
  }

  /**
   * All chunks from the beginning, then each new chunk. The run continues when a reader leaves.
   * `skipEarlier`: without the chunks of earlier runs, for a reader that has them.
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

  /** Sends the state to the current followers, and does not store it. */
  private showState(state: AgentState): void {
    if (this.followers.size === 0) return;
    const chunk = this.stateChunk(state);
    for (const follower of this.followers) follower.put(chunk);
  }

  private stateChunk(state: AgentState): UIMessageChunk {
    const data: SessionView = toSessionView(this.session.withState(state), isGoingOn(state));
    return { type: 'data-state', data, transient: true };
  }

  /** A resumed execution is shown from its beginning: as if its earlier steps had just happened. */
  private replayFinishedSteps({ state, at, executionId }: AgentEvent): void {
    const before = this.chunks.length;
    for (const event of eventsBefore({ state, at, executionId, attempt: 1 })) {
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

/** The events of an execution before it was resumed: those of its closed steps, and the response of its open step. */
function eventsBefore(frame: EventFrame): readonly AgentEvent[] {
  const { state } = frame;
  const { currentStep } = state;
  if (currentStep === undefined) return finishedSteps(frame);
  const { id: stepId, response } = currentStep;
  return [
    ...finishedSteps(frame),
    { type: 'step-started', stepNumber: state.stepCount, stepId, ...frame },
    ...(response ? [{ type: 'inference-completed' as const, response, stepId, ...frame }] : []),
  ];
}

function finishedSteps(frame: EventFrame): readonly AgentEvent[] {
  return frame.state.stepExecutions.toArray().flatMap((stepExecution, index): readonly AgentEvent[] => {
    const { id: stepId, response, toolExecutions } = stepExecution.step;
    const common = { stepId, ...frame };
    return [
      { type: 'step-started', stepNumber: index + 1, ...common },
      ...(response ? [{ type: 'inference-completed' as const, response, ...common }] : []),
      ...toolExecutions.map((toolExecution) => ({
        type: 'tool-completed' as const,
        toolExecution,
        ...common,
      })),
      { type: 'step-completed', stepExecution, stepNumber: index + 1, ...frame },
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
