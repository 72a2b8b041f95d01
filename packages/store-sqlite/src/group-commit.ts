import { setImmediate } from 'node:timers';
import type { CompareAndSetResult } from '@holdfast/core/store';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { MeasuredWrite } from './sqlite-errors.ts';

/** A batch executes no further write after this time, so that it does not block the event loop for longer. */
const BATCH_MS = 5;

/** A write of a batch. */
export interface GroupWrite {
  readonly measured?: MeasuredWrite | undefined;
  /** Executes the write. The batch rolls its changes back unless it returns `done`. */
  readonly act: () => CompareAndSetResult;
}

interface WaitingWrite extends GroupWrite {
  readonly resolve: (result: CompareAndSetResult) => void;
  readonly reject: (error: unknown) => void;
}

type WriteOutcome = PromiseSettledResult<CompareAndSetResult>;

/**
 * Commits the writes of one iteration of the event loop in one transaction, so that they wait for the disk once. Each
 * write has a savepoint, so that a refused or failed write does not affect the other writes. A batch begins and ends
 * synchronously, so that no read on this connection sees uncommitted changes.
 */
export class GroupCommit {
  private readonly connection: SqliteConnection;
  private waiting: WaitingWrite[] = [];
  private turn: Promise<void> | undefined;

  constructor(connection: SqliteConnection) {
    this.connection = connection;
  }

  /** Adds a write to the next batch. Resolves with its result after the commit. */
  write(write: GroupWrite): Promise<CompareAndSetResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...write, resolve, reject });
      if (this.waiting.length === 1) this.schedule();
    });
  }

  /** Commits all waiting writes. */
  flush(): void {
    while (this.waiting.length > 0) this.commitNext();
  }

  /**
   * Resolves after the next batch; `undefined` when no write waits. Reads wait for this promise. Without it, a caller
   * that polls for the result of another write would block the event loop, and that write would never commit.
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

  /** Commits the first writes in one transaction, as many as fit into the time of a batch. Returns their number. */
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

  /**
   * Executes writes and adds their outcomes.
   * @throws the error with which SQLite rolled the transaction back, and with it the writes before.
   */
  private executeWrites(writes: readonly WaitingWrite[], outcomes: WriteOutcome[]): void {
    const end = performance.now() + BATCH_MS;
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

  /** Commits each write in a transaction of its own, after SQLite rolled back the batch because of its last write. */
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
