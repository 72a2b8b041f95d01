import type { AgentEvent } from './events.ts';

/**
 * Events in the order in which they happen, for one reader. `result` is the last state of the run; leaving the
 * stream early (`break`, `return`) aborts the run.
 */
export class EventStream<Result> implements AsyncIterableIterator<AgentEvent, undefined> {
  /** Settles when the run is over, also when nobody reads the events. */
  readonly result: Promise<Result>;
  private readonly leave: () => void;
  private queue: AgentEvent[] = [];
  private head = 0;
  private isOver = false;
  private waiting: ((result: IteratorResult<AgentEvent, undefined>) => void) | undefined;

  /** Starts the work; it is handed the function that puts events into the stream. */
  constructor(work: (put: (event: AgentEvent) => void) => Promise<Result>, leave: () => void) {
    this.leave = leave;
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
    if (!this.isOver) return new Promise((resolve) => (this.waiting = resolve));
    return this.result.then(() => END);
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (!this.isOver) this.leave();
    this.queue = [];
    this.head = 0;
    await this.result.catch(() => undefined);
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private put(event: AgentEvent): void {
    if (this.waiting === undefined) return void this.queue.push(event);
    const give = this.waiting;
    this.waiting = undefined;
    give({ value: event, done: false });
  }

  private end(): void {
    this.isOver = true;
    this.waiting?.(END);
    this.waiting = undefined;
  }
}

const END: IteratorReturnResult<undefined> = { value: undefined, done: true };
