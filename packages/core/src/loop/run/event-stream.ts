import type { AgentEvent } from '../steps/events.ts';

/** A run waits while its reader has this many events to read. */
const MAX_UNREAD = 1_000;

/**
 * The events of a run in order, for one reader. `result` is the last state of the run. A reader that stops early
 * (`break`, `return`) aborts the run.
 *
 * A reader that is slower than the model makes the driver wait: at about 1,000 unread events, the driver stops reading the
 * response until the reader has read half of them. A stream without a reader holds all events, and does not wait. Nor does
 * a stream whose `result` was requested, because its caller waits for the end of the run.
 */
export class EventStream<Result> implements AsyncIterableIterator<AgentEvent, undefined> {
  private readonly run: Promise<Result>;
  private readonly onLeave: () => void;
  private queue: AgentEvent[] = [];
  private head = 0;
  private isOver = false;
  private isReaderGone = false;
  private hasReader = false;
  private isResultRequested = false;
  private pause: { readonly over: Promise<void>; readonly end: () => void } | undefined;
  private readonly waiting: ((result: IteratorResult<AgentEvent, undefined>) => void)[] = [];

  /**
   * Starts the work. `put` adds an event to the stream. `awaitReader` returns a promise while the reader has too many
   * events to read, which settles when it has read half of them.
   */
  constructor(
    work: (put: (event: AgentEvent) => void, awaitReader: () => Promise<void> | undefined) => Promise<Result>,
    leave: () => void,
  ) {
    this.onLeave = leave;
    this.run = work(
      (event) => this.put(event),
      () => this.awaitReader(),
    ).finally(() => this.end());
    this.run.catch(() => undefined);
  }

  /** Settles at the end of the run, even when the events are not read. */
  get result(): Promise<Result> {
    this.isResultRequested = true;
    this.pause?.end();
    return this.run;
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.hasReader = true;
    const event = this.queue[this.head];
    if (event !== undefined) {
      this.head++;
      this.dropRead();
      if (this.unread <= MAX_UNREAD / 2) this.pause?.end();
      return Promise.resolve({ value: event, done: false });
    }
    if (!this.isOver && !this.isReaderGone) return new Promise((resolve) => this.waiting.push(resolve));
    return Promise.resolve(END);
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (!this.isOver && !this.isReaderGone) this.onLeave();
    this.isReaderGone = true;
    this.pause?.end();
    this.queue = [];
    this.head = 0;
    await this.run.catch(() => undefined);
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private awaitReader(): Promise<void> | undefined {
    if (!this.isPaced || this.unread < MAX_UNREAD) return undefined;
    this.pause ??= pauseOf(() => (this.pause = undefined));
    return this.pause.over;
  }

  /** True while a reader reads the events, and no caller waits for the result. */
  private get isPaced(): boolean {
    return this.hasReader && !this.isResultRequested && !this.isReaderGone;
  }

  private get unread(): number {
    return this.queue.length - this.head;
  }

  /** Removes the events that were read from the queue, when they are at least half of it. */
  private dropRead(): void {
    if (this.head < MAX_UNREAD && this.head < this.queue.length) return;
    if (this.head * 2 < this.queue.length) return;
    this.queue = this.queue.slice(this.head);
    this.head = 0;
  }

  private put(event: AgentEvent): void {
    if (this.isReaderGone) return;
    const resolveNext = this.waiting.shift();
    if (resolveNext) resolveNext({ value: event, done: false });
    else this.queue.push(event);
  }

  private end(): void {
    this.isOver = true;
    for (const resolveNext of this.waiting.splice(0)) resolveNext(END);
  }
}

function pauseOf(onEnd: () => void): { readonly over: Promise<void>; readonly end: () => void } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  return { over, end: () => (onEnd(), resolve()) };
}

const END: IteratorReturnResult<undefined> = { value: undefined, done: true };
