import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 5;

/** Points at which an agent waits until the test lets it continue, in any process. They are files of a folder. */
export class Gates {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Waits until a gate is open, or the signal aborts. */
  async pass(name: string, signal: AbortSignal): Promise<void> {
    writeFileSync(join(this.folder, `${name}.reached`), '');
    while (!existsSync(join(this.folder, `${name}.open`)) && !signal.aborted) await pause(POLL_MS);
  }

  /** Opens gates, for the agents that wait there and for later ones. */
  open(...names: readonly string[]): void {
    for (const name of names) writeFileSync(join(this.folder, `${name}.open`), '');
  }

  /** Closes all gates. */
  reset(): void {
    for (const file of readdirSync(this.folder)) rmSync(join(this.folder, file));
  }

  /** True when an agent has come to the gate. */
  isReached(name: string): boolean {
    return existsSync(join(this.folder, `${name}.reached`));
  }
}
