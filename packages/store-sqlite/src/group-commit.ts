import { setImmediate } from 'node:timers';
import type { CompareAndSetResult } from '@holdfast/core/store';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { MeasuredWrite } from './sqlite-errors.ts';

/** A batch takes no further write after this many milliseconds, so that the event loop gets its turn. */
const BATCH_MILLISECONDS = 5;

/** A write of a batch. */
export interface GroupWrite {
  readonly measured: MeasuredWrite;
  /** Writes. Its changes are undone unless it answers `done`. */
  readonly act: () => CompareAndSetResult;
}

interface WaitingWrite extends GroupWrite {
  readonly resolve: (result: CompareAndSetResult) => void;
  readonly reject: (error: unknown) => void;
}

type WriteOutcome = PromiseSettledResult<CompareAndSetResult>;

/**
 * Commits the writes of one turn of the event loop in one transaction, so that they wait for the disk once. Each write
 * has a savepoint, so that one that is refused or fails leaves the others alone. A batch begins and ends in one
 * synchronous piece of work, so no read of this connection sees what is not committed.
 */
export class GroupCommit {
  private readonly connection: SqliteConnection;
  private waiting: WaitingWrite[] = [];
  private turn: Promise<void> | undefined;

  constructor(connection: SqliteConnection) {
    this.connection = connection;
  }

  /** Answers when the write is committed. */
  write(write: GroupWrite): Promise<CompareAndSetResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...write, resolve, reject });
      if (this.waiting.length === 1) this.schedule();
    });
  }

  /** Commits all writes that wait. */
  flush(): void {
    while (this.waiting.length > 0) this.commitNext();
  }

  /**
   * Resolves after the next batch; `undefined` when no write waits. Reads wait for it: a caller that reads again and
   * again until the write of another is there would otherwise never leave the event loop a turn to commit that write.
   */
  get nextBatch(): Promise<void> | undefined {
    return this.turn;
  }

  private schedule(): void {
    this.turn = new Promise((resolve) => {
      setImmediate(() => {
        this.turn = undefined;
        this.commitNext();
        if (this.waiting.length > 0) this.schedule();
        resolve();
      });
    });
  }

  private commitNext(): void {
    const { waiting } = this;
    this.waiting = waiting.slice(this.commit(waiting));
  }

  /** Commits the first of these writes in one transaction, as many as there is time for, and returns how many. */
  private commit(writes: readonly WaitingWrite[]): number {
    if (writes.length === 0) return 0;
    try {
      this.connection.begin();
    } catch (error) {
      return rejectAll(writes, error);
    }
    const outcomes: WriteOutcome[] = [];
    try {
      this.executeWrites(writes, outcomes);
    } catch (error) {
      this.connection.rollBack();
      return this.commitEach(writes.slice(0, outcomes.length + 1), error);
    }
    return this.end(writes.slice(0, outcomes.length), outcomes);
  }

  /** Notes the outcome of each write. @throws when SQLite has undone the transaction, and the writes before with it. */
  private executeWrites(writes: readonly WaitingWrite[], outcomes: WriteOutcome[]): void {
    const end = performance.now() + BATCH_MILLISECONDS;
    for (const write of writes) {
      outcomes.push(this.outcomeOf(write));
      if (performance.now() >= end) return;
    }
  }

  private outcomeOf({ measured, act }: GroupWrite): WriteOutcome {
    const { connection } = this;
    connection.openSavepoint();
    const outcome = settle(() => connection.execute(act, measured));
    try {
      connection.closeSavepoint(isDone(outcome));
    } catch (error) {
      throw outcome.status === 'rejected' ? outcome.reason : error;
    }
    return outcome;
  }

  /** Commits writes one by one whose transaction SQLite has undone because of the last of them. */
  private commitEach(writes: readonly WaitingWrite[], error: unknown): number {
    if (writes.length === 1) return rejectAll(writes, error);
    for (const write of writes) this.commit([write]);
    return writes.length;
  }

  private end(writes: readonly WaitingWrite[], outcomes: readonly WriteOutcome[]): number {
    try {
      if (outcomes.some(isDone)) this.connection.commit();
      else this.connection.rollBack();
    } catch (error) {
      this.connection.rollBack();
      return rejectAll(writes, error);
    }
    for (const [index, { resolve, reject }] of writes.entries()) {
      const outcome = outcomes[index] as WriteOutcome;
      if (outcome.status === 'fulfilled') resolve(outcome.value);
      else reject(outcome.reason);
    }
    return writes.length;
  }
}

function settle(act: () => CompareAndSetResult): WriteOutcome {
  try {
    return { status: 'fulfilled', value: act() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}

function isDone(outcome: WriteOutcome): boolean {
  return outcome.status === 'fulfilled' && outcome.value === 'done';
}

function rejectAll(writes: readonly WaitingWrite[], error: unknown): number {
  for (const { reject } of writes) reject(error);
  return writes.length;
}
