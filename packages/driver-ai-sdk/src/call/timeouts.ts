import { mustBe } from '@holdfast/core/driver';

/** The time limits of an attempt, in seconds. A missing limit does not apply. */
export interface CallTimeouts {
  /**
   * From the start of an attempt to its end, also while the reader of a stream is behind. Each attempt has the whole time;
   * pauses between attempts do not count.
   */
  readonly callSeconds?: number;
  /** From the start of an attempt to the first piece of a streamed response, such as text or reasoning. */
  readonly firstChunkSeconds?: number;
  /** Between two pieces of a streamed response. */
  readonly chunkSeconds?: number;
}

const NAMES: ReadonlySet<string> = new Set(['callSeconds', 'firstChunkSeconds', 'chunkSeconds']);

/** True for an object with no other members than valid limits. */
export function isTimeouts(value: unknown): boolean {
  if (!mustBe.object.accepts(value)) return false;
  return Object.entries(value as object).every(
    ([name, seconds]) => NAMES.has(name) && (seconds === undefined || mustBe.seconds.accepts(seconds)),
  );
}

type Limit = 'whole' | 'piece';

/** Aborts an attempt that exceeds its time limits. Without limits it passes the signal of the caller on. */
export class AttemptLimits {
  /** Aborts with the signal of the caller, or with a `TimeoutError` at a limit. */
  readonly signal: AbortSignal;
  private readonly limits: CallTimeouts;
  private readonly controller: AbortController | undefined;
  private readonly timers = new Map<Limit, ReturnType<typeof setTimeout>>();
  private readonly leave: () => void;
  private isOver = false;

  constructor(limits: CallTimeouts | undefined, signal: AbortSignal) {
    this.limits = limits ?? {};
    this.controller = limits && new AbortController();
    this.signal = this.controller?.signal ?? signal;
    const abort = (): void => this.controller?.abort(signal.reason);
    this.leave = () => signal.removeEventListener('abort', abort);
    if (this.controller === undefined) return;
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.arm('whole', this.limits.callSeconds, 'The call took longer than');
  }

  /** Begins to wait for the first piece of a streamed response. */
  awaitFirstPiece(): void {
    this.arm('piece', this.limits.firstChunkSeconds, 'No piece of the response arrived within');
  }

  /** Reports a piece of the response. */
  pieceArrived(): void {
    if (this.controller === undefined || this.isOver) return;
    this.disarm('piece');
    this.arm('piece', this.limits.chunkSeconds, 'The response paused for more than');
  }

  /** Stops the limit between two pieces until the reader of the run has read enough. */
  pausedFor(reader: Promise<void> | undefined): Promise<void> | undefined {
    if (reader === undefined || this.controller === undefined) return reader;
    this.disarm('piece');
    return reader.then(() => this.pieceArrived());
  }

  /** Ends all limits. */
  end(): void {
    this.isOver = true;
    this.disarm('whole');
    this.disarm('piece');
    this.leave();
  }

  private arm(limit: Limit, seconds: number | undefined, message: string): void {
    if (this.controller === undefined || seconds === undefined) return;
    const expire = (): void =>
      this.controller?.abort(new DOMException(`${message} ${seconds} seconds.`, 'TimeoutError'));
    this.timers.set(limit, setTimeout(expire, Math.min(seconds * 1000, MAX_TIMER)));
  }

  private disarm(limit: Limit): void {
    clearTimeout(this.timers.get(limit));
    this.timers.delete(limit);
  }
}

/** The longest delay of a timer in milliseconds, 24.8 days. A longer delay would end at once. */
const MAX_TIMER = 2 ** 31 - 1;
