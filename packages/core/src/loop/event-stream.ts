import type { AgentEvent } from './events.ts';

/**
 * The events of a run in order, for one reader. `result` is the last state of the run. A reader that stops early
 * (`break`, `return`) aborts the run.
 */
export class EventStream<Result> implements AsyncIterableIterator<AgentEvent, undefined> {
  /** Settles at the end of the run, even when the events are not read. */
  readonly result: Promise<Result>;
  private readonly onLeave: () => void;
  private queue: AgentEvent[] = [];
  private head = 0;
  private isOver = false;
  private isReaderGone = false;
  private readonly waiting: ((result: IteratorResult<AgentEvent, undefined>) => void)[] = [];

  /** Starts the work, and passes it the function that adds events to the stream. */
  constructor(work: (put: (event: AgentEvent) => void) => Promise<Result>, leave: () => void) {
    this.onLeave = leave;
    this.result = work((event) => this.put(event)).finally(() => this.end());
    this.result.catch(() => undefined);
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const event = this.queue[this.head];
    if (event !== undefined) {
      this.head++;
      if (this.head === this.queue.length) {
        this.queue = [];
        this.head = 0;
      }
      return Promise.resolve({ value: event, done: false });
    }
    if (!this.isOver && !this.isReaderGone) return new Promise((resolve) => this.waiting.push(resolve));
    return Promise.resolve(END);
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (!this.isOver && !this.isReaderGone) this.onLeave();
    this.isReaderGone = true;
    this.queue = [];
    this.head = 0;
    await this.result.catch(() => undefined);
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
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

const END: IteratorReturnResult<undefined> = { value: undefined, done: true };
