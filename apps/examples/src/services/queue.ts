/** What is to be done with what was put into a queue. */
export type Handler = (item: string) => Promise<void>;

/** A queue as a message broker has it: items come at once or at a moment, and are handled so many at a time. */
export class Queue {
  handled = 0;
  private readonly items: string[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private handler: Handler | undefined;
  private concurrency = 1;

  async add(item: string, at?: number): Promise<void> {
    if (at !== undefined && at > Date.now())
      return void setTimeout(() => void this.add(item), at - Date.now());
    this.items.push(item);
    this.handleMore();
  }

  consume(concurrency: number, handler: Handler): void {
    this.concurrency = concurrency;
    this.handler = handler;
    this.handleMore();
  }

  /** Begins nothing more, and resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.handler = undefined;
    await Promise.all(this.underWay);
  }

  private handleMore(): void {
    while (this.handler && this.underWay.size < this.concurrency && this.items.length > 0) {
      this.handled++;
      const work = this.handler(this.items.shift() ?? '').finally(() => {
        this.underWay.delete(work);
        this.handleMore();
      });
      this.underWay.add(work);
    }
  }
}
