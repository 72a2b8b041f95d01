import { RunAbort } from '@holdfast/core';
import type { SessionAction, SessionEvent, SessionRuntime } from '@holdfast/core';
import { LiveRun } from './live-run.ts';
import { patience } from './playground.ts';

/** The session already has a run in progress. */
export class RunInProgressError extends Error {
  constructor() {
    super('This session already has a run in progress. Wait for its end, or stop it.');
  }
}

/** The runs in progress in this process: at most one a session. They do not end with the request that started them. */
export class Runs {
  private readonly live = new Map<string, { readonly run: LiveRun; readonly end: Promise<void> }>();
  private readonly starting = new Set<string>();
  private isClosing = false;

  /** The listener for the runtime: it tells a run the saved version of its session. */
  readonly onSessionEvent = (event: SessionEvent): void => {
    if (event.type === 'session-saved') this.of(event.session.sessionId)?.onSaved(event.session);
  };

  /** Whether a run of the session is in progress. */
  has(sessionId: string): boolean {
    return this.live.has(sessionId);
  }

  /** The run in progress of a session. */
  of(sessionId: string): LiveRun | undefined {
    return this.live.get(sessionId)?.run;
  }

  /** @throws RunInProgressError; SessionNotFoundError. */
  async start(runtime: SessionRuntime, sessionId: string, action: SessionAction): Promise<LiveRun> {
    if (this.isClosing || this.live.has(sessionId) || this.starting.has(sessionId))
      throw new RunInProgressError();
    this.starting.add(sessionId);
    try {
      const run = new LiveRun(await runtime.get(sessionId));
      this.live.set(sessionId, { run, end: this.carryOut(runtime, sessionId, action, run) });
      return run;
    } finally {
      this.starting.delete(sessionId);
    }
  }

  /** Stops a run: its execution ends `stopped`. Resolves when it has ended; false without a run. */
  async stop(sessionId: string): Promise<boolean> {
    const found = this.live.get(sessionId);
    found?.run.abort(new RunAbort('cancel', 'Stopped by the user.'));
    await found?.end;
    return found !== undefined;
  }

  /** Yields all runs to another process: running tools finish, then each run stays unfinished. */
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
