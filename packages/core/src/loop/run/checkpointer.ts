import type { AgentState } from '../../state/agent-state.ts';
import type { Checkpoint, CheckpointPoint } from '../steps/checkpoint.ts';
import type { HookedRun } from './run-hooks.ts';

type CheckpointedRun = Pick<HookedRun, 'state' | 'signals' | 'changeByHook'>;

/** Saves the states of one run, one save at a time. */
export class Checkpointer {
  private readonly run: CheckpointedRun;
  private readonly checkpoint: Checkpoint | undefined;
  /** The state as it was saved last, or as it was passed to the run. */
  private saved: AgentState;
  private pendingSave: Promise<void> | undefined;
  private queuedSave: Promise<void> | undefined;
  /** The error of a failed checkpoint: nothing more is saved, and the run ends with this error. */
  failure: { readonly error: unknown } | undefined;

  constructor(run: CheckpointedRun, checkpoint: Checkpoint | undefined) {
    this.run = run;
    this.saved = run.state;
    this.checkpoint = checkpoint;
  }

  /** True when the run has a checkpoint. */
  get isEnabled(): boolean {
    return this.checkpoint !== undefined;
  }

  /** True when the state was saved and has not changed since. */
  get isSaved(): boolean {
    return this.isEnabled && this.run.state === this.saved;
  }

  /** True when a step was closed after the last save. */
  get hasUnsavedStep(): boolean {
    const { stepExecutions } = this.run.state;
    return (
      this.isEnabled && !stepExecutions.isEmpty && stepExecutions !== this.saved.execution?.stepExecutions
    );
  }

  /**
   * Saves the state of the run. Returns a promise only when there is something to save. The saves follow one another;
   * callers that wait during a save share the next one.
   */
  save(point: CheckpointPoint): Promise<void> | undefined {
    const { checkpoint, run } = this;
    if (checkpoint === undefined || run.signals.isAbandoned()) return undefined;
    if (this.pendingSave) {
      return (this.queuedSave ??= this.pendingSave.then(() => {
        this.queuedSave = undefined;
        return this.save(point);
      }));
    }
    if (run.state === this.saved) return undefined;
    this.pendingSave = this.saveWith(checkpoint, point).finally(() => {
      this.pendingSave = undefined;
    });
    return this.pendingSave;
  }

  private async saveWith(checkpoint: Checkpoint, point: CheckpointPoint): Promise<void> {
    const { run } = this;
    const base = run.state;
    try {
      const state = await checkpoint.save(base, point);
      const hasGoneOn = run.state !== base; // a tool reported progress or usage, which is not saved yet
      if (state !== base) run.changeByHook(state, base);
      this.saved = hasGoneOn ? state : run.state;
    } catch (error) {
      this.failure = { error };
      run.signals.abandon();
    }
  }

  /** True when a tool with effects may run. When it may not, the run is lost. */
  async mayAct(): Promise<boolean> {
    const may = this.checkpoint?.mayAct?.() ?? true;
    if (await may) return true;
    this.run.signals.abandon();
    return false;
  }
}
