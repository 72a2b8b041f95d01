import { mustBe, optionsCheck } from '@holdfast/core/driver';

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

/** @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown limit, or one that is not a number of seconds. */
export const checkTimeouts = optionsCheck<CallTimeouts>('timeouts', {
  callSeconds: mustBe.seconds,
  firstChunkSeconds: mustBe.seconds,
  chunkSeconds: mustBe.seconds,
});

/** The time limits of one attempt. */
export interface AttemptLimits {
  /** Aborts with the signal of the caller, or with a `TimeoutError` at a limit. */
  readonly signal: AbortSignal;
  /** Begins to wait for the first piece of a streamed response. */
  awaitFirstPiece(): void;
  /** Reports a piece of the response. */
  pieceArrived(): void;
  /** Stops the limit between two pieces until the reader of the run has read enough. */
  pausedFor(reader: Promise<void> | undefined): Promise<void> | undefined;
  /** Ends all limits. */
  end(): void;
}

/** Returns the limits of an attempt. Without limits, they pass the signal of the caller on and do nothing else. */
export function limitsOf(timeouts: CallTimeouts | undefined, signal: AbortSignal): AttemptLimits {
  return timeouts ? new TimedLimits(timeouts, signal) : new NoLimits(signal);
}

class NoLimits implements AttemptLimits {
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  awaitFirstPiece(): void {}
  pieceArrived(): void {}
  end(): void {}

  pausedFor(reader: Promise<void> | undefined): Promise<void> | undefined {
    return reader;
  }
}

type Limit = 'whole' | 'piece';

/** Aborts an attempt that exceeds its time limits. */
class TimedLimits implements AttemptLimits {
  private readonly limits: CallTimeouts;
  private readonly controller = new AbortController();
  private readonly timers = new Map<Limit, ReturnType<typeof setTimeout>>();
  private readonly leave: () => void;
  private isOver = false;

  constructor(limits: CallTimeouts, signal: AbortSignal) {
    this.limits = limits;
    const abort = (): void => this.controller.abort(signal.reason);
    this.leave = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.arm('whole', limits.callSeconds, 'The call took longer than');
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  awaitFirstPiece(): void {
    this.arm('piece', this.limits.firstChunkSeconds, 'No piece of the response arrived within');
  }

  pieceArrived(): void {
    if (this.isOver) return;
    this.disarm('piece');
    this.arm('piece', this.limits.chunkSeconds, 'The response paused for more than');
  }

  pausedFor(reader: Promise<void> | undefined): Promise<void> | undefined {
    if (reader === undefined) return undefined;
    this.disarm('piece');
    return reader.then(() => this.pieceArrived());
  }

  end(): void {
    this.isOver = true;
    this.disarm('whole');
    this.disarm('piece');
    this.leave();
  }

  private arm(limit: Limit, seconds: number | undefined, message: string): void {
    if (seconds === undefined) return;
    const milliseconds = Math.min(seconds * 1000, MAX_TIMER_MS);
    const dueAt = Date.now() + milliseconds;
    const expire = (): void => {
      if (Date.now() - dueAt > LEAST_SLEEP_MS) this.arm(limit, seconds, message);
      else this.controller.abort(new DOMException(`${message} ${seconds} seconds.`, 'TimeoutError'));
    };
    this.timers.set(limit, setTimeout(expire, milliseconds));
  }

  private disarm(limit: Limit): void {
    clearTimeout(this.timers.get(limit));
    this.timers.delete(limit);
  }
}

/** A timer that is later than this was delayed by a sleep of the machine: the limit begins anew. */
const LEAST_SLEEP_MS = 30_000;
/** The longest delay of a timer, 24.8 days. A longer delay would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
