import type { AgentState } from '../state/agent-state.ts';
import type { Checkpoint, CheckpointPoint } from './checkpoint.ts';
import type { RunSignals } from './stopping/run-signals.ts';

/** A run, as far as its state is kept. */
interface KeptRun {
  readonly state: AgentState;
  readonly signals: RunSignals;
  isLost(): boolean;
  changeFrom(base: AgentState, changed: AgentState): void;
}

/** What of a run has been kept, and how more of it is. */
export class Checkpointer {
  private readonly checkpoint: Checkpoint | undefined;
  /** As it was kept last, or given. */
  private kept: AgentState;
  private underWay: Promise<void> | undefined;
  private following: Promise<void> | undefined;
  /** Why nothing more can be kept: the run ends with it. */
  failure: { readonly error: unknown } | undefined;

  constructor(state: AgentState, checkpoint: Checkpoint | undefined) {
    this.kept = state;
    this.checkpoint = checkpoint;
  }

  /** Is there anybody to keep it? */
  get isAsked(): boolean {
    return this.checkpoint !== undefined;
  }

  /** Whether the state was kept as it is. */
  isKept(state: AgentState): boolean {
    return this.isAsked && state === this.kept;
  }

  /** Was a step closed since? */
  hasNewStep({ stepExecutions }: AgentState): boolean {
    return !stepExecutions.isEmpty && stepExecutions !== this.kept.execution?.stepExecutions;
  }

  /**
   * Keeps the state of a run. A promise only when there is something to keep. One is kept after the other; those who ask
   * while one is under way share the next.
   */
  keep(run: KeptRun, point: CheckpointPoint): Promise<void> | undefined {
    const { checkpoint } = this;
    if (checkpoint === undefined || run.isLost()) return undefined;
    if (this.underWay) {
      return (this.following ??= this.underWay.then(() => {
        this.following = undefined;
        return this.keep(run, point);
      }));
    }
    if (run.state === this.kept) return undefined;
    this.underWay = this.keepWith(checkpoint, run, point).finally(() => {
      this.underWay = undefined;
    });
    return this.underWay;
  }

  private async keepWith(checkpoint: Checkpoint, run: KeptRun, point: CheckpointPoint): Promise<void> {
    const base = run.state;
    try {
      const state = await checkpoint.save(base, point);
      const hasGoneOn = run.state !== base; // a tool has said something, which is not kept yet
      if (state !== base) run.changeFrom(base, state);
      this.kept = hasGoneOn ? state : run.state;
    } catch (error) {
      this.failure = { error };
      run.signals.lose();
    }
  }

  /** May a tool with effects be called? When not, the run is lost. */
  async mayAct(run: KeptRun): Promise<boolean> {
    const may = this.checkpoint?.mayAct?.() ?? true;
    if (await may) return true;
    run.signals.lose();
    return false;
  }
}
