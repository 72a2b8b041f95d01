import { RunAbort } from '@holdfast/core';
import type { SessionAction, SessionEvent, SessionRuntime } from '@holdfast/core';
import { LiveRun } from './live-run.ts';
import { patience } from './playground.ts';

/** A run of the session goes on already. */
export class RunGoesOnError extends Error {
  constructor() {
    super('A run of this session goes on already. Wait for its end, or stop it.');
  }
}

/** The runs that go on in this process: at most one a session. They belong to the process, not to who asked. */
export class Runs {
  private readonly live = new Map<string, { readonly run: LiveRun; readonly end: Promise<void> }>();
  private readonly starting = new Set<string>();
  private isClosing = false;

  /** Hand this to the runtime: runs learn from it which version of their session is saved. */
  readonly onSessionEvent = (event: SessionEvent): void => {
    if (event.type === 'session-saved') this.of(event.session.sessionId)?.onSaved(event.session);
  };

  /** Does a run of the session go on? */
  has(sessionId: string): boolean {
    return this.live.has(sessionId);
  }

  /** The run of a session that goes on, if one does. */
  of(sessionId: string): LiveRun | undefined {
    return this.live.get(sessionId)?.run;
  }

  /** @throws RunGoesOnError; SessionNotFoundError. */
  async start(runtime: SessionRuntime, sessionId: string, action: SessionAction): Promise<LiveRun> {
    if (this.isClosing || this.live.has(sessionId) || this.starting.has(sessionId))
      throw new RunGoesOnError();
    this.starting.add(sessionId);
    try {
      const run = new LiveRun(await runtime.get(sessionId));
      this.live.set(sessionId, { run, end: this.carryOut(runtime, sessionId, action, run) });
      return run;
    } finally {
      this.starting.delete(sessionId);
    }
  }

  /** Ends a run as its user wants: its state says `stopped`. Resolves when it has ended; false when there is none. */
  async stop(sessionId: string): Promise<boolean> {
    const found = this.live.get(sessionId);
    found?.run.abort(new RunAbort('cancel', 'Stopped by the user.'));
    await found?.end;
    return found !== undefined;
  }

  /** Lets go of all runs for another process to take up: running tools finish, then each run stays unfinished. */
  async close(): Promise<void> {
    this.isClosing = true;
    const all = [...this.live.values()];
    for (const { run } of all) run.abort(new RunAbort('yield', 'The playground is shutting down.'));
    await Promise.all(all.map(({ end }) => end));
  }

  private async carryOut(
    runtime: SessionRuntime,
    sessionId: string,
    action: SessionAction,
    run: LiveRun,
  ): Promise<void> {
    const { signal, onEvent } = run;
    const failure = await runtime.execute(sessionId, action, { ...patience, signal, onEvent }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    this.live.delete(sessionId);
    run.finish(failure);
  }
}
