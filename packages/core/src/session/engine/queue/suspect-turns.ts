/** The turns of the suspect sessions of a worker: one has the turn, and the others wait in order. */
export class SuspectTurns {
  private isTaken = false;
  /** The sessions that wait. Each function begins a turn. */
  private readonly waiting = new Set<() => void>();

  /** True while a session has the turn. */
  get isBusy(): boolean {
    return this.isTaken;
  }

  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Resolves to true when the session has the turn, or to false as soon as the signal aborts. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (!this.isTaken) {
      this.isTaken = true;
      return true;
    }
    return !signal.aborted && this.waitForTurn(signal);
  }

  /** Gives the turn to the next session. */
  end(): void {
    const [beginNext] = this.waiting;
    if (beginNext) beginNext();
    else this.isTaken = false;
  }

  private waitForTurn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (isTurn: boolean): void => {
        this.waiting.delete(begin);
        signal.removeEventListener('abort', giveUp);
        resolve(isTurn);
      };
      const begin = (): void => leave(true);
      const giveUp = (): void => leave(false);
      signal.addEventListener('abort', giveUp);
      this.waiting.add(begin);
    });
  }
}
