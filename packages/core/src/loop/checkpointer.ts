import type { AgentState } from '../state/agent-state.ts';
import type { Checkpoint, CheckpointPoint } from './checkpoint.ts';
import type { RunSignals } from './stopping/run-signals.ts';

/** A run, as far as its state is kept. */
interface CheckpointedRun {
  readonly state: AgentState;
  readonly signals: RunSignals;
  isAbandoned(): boolean;
  changeFrom(base: AgentState, changed: AgentState): void;
}

/** What of a run has been kept, and how more of it is. */
export class Checkpointer {
  private readonly checkpoint: Checkpoint | undefined;
  /** As it was kept last, or given. */
  private saved: AgentState;
  private pendingSave: Promise<void> | undefined;
  private queuedSave: Promise<void> | undefined;
  /** Why nothing more can be kept: the run ends with it. */
  failure: { readonly error: unknown } | undefined;

  constructor(state: AgentState, checkpoint: Checkpoint | undefined) {
    this.saved = state;
    this.checkpoint = checkpoint;
  }

  /** Is there anybody to keep it? */
  get isEnabled(): boolean {
    return this.checkpoint !== undefined;
  }

  /** Whether the state was kept as it is. */
  isSaved(state: AgentState): boolean {
    return this.isEnabled && state === this.saved;
  }

  /** Was a step closed since? */
  hasUnsavedStep({ stepExecutions }: AgentState): boolean {
    return !stepExecutions.isEmpty && stepExecutions !== this.saved.execution?.stepExecutions;
  }

  /**
   * Keeps the state of a run. A promise only when there is something to keep. One is kept after the other; those who ask
   * while one is under way share the next.
   */
  save(run: CheckpointedRun, point: CheckpointPoint): Promise<void> | undefined {
    const { checkpoint } = this;
    if (checkpoint === undefined || run.isAbandoned()) return undefined;
    if (this.pendingSave) {
      return (this.queuedSave ??= this.pendingSave.then(() => {
        this.queuedSave = undefined;
        return this.save(run, point);
      }));
    }
    if (run.state === this.saved) return undefined;
    this.pendingSave = this.saveWith(checkpoint, run, point).finally(() => {
      this.pendingSave = undefined;
    });
    return this.pendingSave;
  }

  private async saveWith(
    checkpoint: Checkpoint,
    run: CheckpointedRun,
    point: CheckpointPoint,
  ): Promise<void> {
    const base = run.state;
    try {
      const state = await checkpoint.save(base, point);
      const hasGoneOn = run.state !== base; // a tool has said something, which is not kept yet
      if (state !== base) run.changeFrom(base, state);
      this.saved = hasGoneOn ? state : run.state;
    } catch (error) {
      this.failure = { error };
      run.signals.abandon();
    }
  }

  /** May a tool with effects be called? When not, the run is lost. */
  async mayAct(run: CheckpointedRun): Promise<boolean> {
    const may = this.checkpoint?.mayAct?.() ?? true;
    if (await may) return true;
    run.signals.abandon();
    return false;
  }
}
