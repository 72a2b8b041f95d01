import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../errors.ts';
import type { JsonObject, Read } from '../json.ts';
import {
  compact,
  DocumentReader,
  readCount,
  readFilled,
  readJsonObject,
  readOneOf,
  readString,
  readTrue,
  toJsonObject,
} from '../json.ts';

/** Every reason to stop, and its rank: the lowest number wins. */
export const STOP_REASON_RANK = {
  errorForbade: 0,
  stopRequested: 1,
  stepsLimitReached: 2,
  tokenLimitReached: 3,
  timeLimitReached: 4,
  costLimitReached: 4,
  retryLimitReached: 5,
  finishReasonReceived: 6,
  userRequested: 7,
  completed: 8,
  unknown: 9,
} as const;

/** Why an execution was told to stop. */
export type StopReason = keyof typeof STOP_REASON_RANK;

const STOP_REASONS = Object.keys(STOP_REASON_RANK) as StopReason[];

/** One reason to stop, as somebody raised it. */
export interface StopSignal {
  readonly reason: StopReason;
  /** For people: what happened. */
  readonly message: string;
  /** For programs: JSON facts, such as the limit and what was spent. */
  readonly context?: JsonObject;
  /** Who raised it: a guard, a tool, a caller. */
  readonly source?: string;
}

/** A frozen signal. @throws RangeError `ARGUMENT_INVALID` for a reason that there is not. */
export function stopSignal(signal: {
  readonly reason: StopReason;
  readonly message?: string;
  readonly context?: JsonObject | undefined;
  readonly source?: string | undefined;
}): StopSignal {
  if (!Object.hasOwn(STOP_REASON_RANK, signal.reason)) {
    throw invalidArgument(
      `A reason to stop is one of ${STOP_REASONS.join(', ')}, found ${describeValue(signal.reason)}.`,
    );
  }
  return compact({
    reason: signal.reason,
    message: signal.message ?? signal.reason,
    context: signal.context && toJsonObject(signal.context),
    source: signal.source,
  }) as StopSignal;
}

/** True unless the execution ended by its own answer. */
export function isForceStop(signal: StopSignal): boolean {
  return signal.reason !== 'completed' && signal.reason !== 'finishReasonReceived';
}

/**
 * Thrown by a tool or a hook to end the execution. What was done so far is kept, and the signal's own reason
 * survives. Given only a text, it means `stopRequested`.
 */
export class AgentStop extends HoldfastError {
  readonly signal: StopSignal;

  constructor(signal: string | (Omit<StopSignal, 'message'> & { readonly message?: string })) {
    const full = stopSignal(
      typeof signal === 'string' ? { reason: 'stopRequested', message: signal } : signal,
    );
    super('AGENT_STOP', full.message, { data: full });
    this.signal = full;
  }
}

/** True for an `AgentStop`, whichever copy of the package made it. */
export function isAgentStop(error: unknown): error is AgentStop {
  if (!hasErrorCode(error, 'AGENT_STOP')) return false;
  try {
    stopSignal((error as AgentStop).signal);
    return true;
  } catch {
    return false; // it has the code, and no signal to stop by
  }
}

/** What speaks for stopping and for going on, at one moment of an execution. */
export class Continuation {
  static readonly empty: Continuation = new Continuation(Object.freeze([]), false, 0);

  /** All signals raised in this execution, in order. */
  readonly signals: readonly StopSignal[];
  /** Somebody asked for another step, signals or not. */
  readonly isRequested: boolean;
  /** How many of the signals the step in progress was begun in spite of. */
  readonly overruledSignals: number;

  private constructor(signals: readonly StopSignal[], isRequested: boolean, overruledSignals: number) {
    this.signals = signals;
    this.isRequested = isRequested;
    this.overruledSignals = overruledSignals;
    Object.freeze(this);
  }

  private static of(
    signals: readonly StopSignal[],
    isRequested: boolean,
    overruledSignals: number,
  ): Continuation {
    if (signals.length === 0 && !isRequested) return Continuation.empty;
    return new Continuation(signals, isRequested, overruledSignals);
  }

  /** The signal that ranks first; among equals, the first raised. */
  get highest(): StopSignal | undefined {
    let highest: StopSignal | undefined;
    for (const signal of this.signals) {
      if (!highest || STOP_REASON_RANK[signal.reason] < STOP_REASON_RANK[highest.reason]) highest = signal;
    }
    return highest;
  }

  /** True when the highest signal ends the execution before its own answer did. */
  get wasForceStopped(): boolean {
    return this.highest !== undefined && isForceStop(this.highest);
  }

  /** True when a signal was raised since the step in progress was begun. */
  get hasNewSignals(): boolean {
    return this.signals.length > this.overruledSignals;
  }

  /** True when its source has given the same reason before. */
  includes({ reason, source }: StopSignal): boolean {
    return this.signals.some((known) => known.reason === reason && known.source === source);
  }

  /** The same with a copy of a signal. @throws RangeError `ARGUMENT_INVALID` for a reason that there is not. */
  withSignal(signal: StopSignal): Continuation {
    return new Continuation(
      Object.freeze([...this.signals, stopSignal(signal)]),
      this.isRequested,
      this.overruledSignals,
    );
  }

  /** The same with another step asked for. */
  withRequested(): Continuation {
    return this.isRequested ? this : new Continuation(this.signals, true, this.overruledSignals);
  }

  /** The same without a request for another step. */
  withoutRequest(): Continuation {
    return this.isRequested ? Continuation.of(this.signals, false, this.overruledSignals) : this;
  }

  /** The same as a step begins: the request is used up, in spite of the signals there were. */
  withStepBegun(): Continuation {
    const { signals } = this;
    const isSame = !this.isRequested && this.overruledSignals === signals.length;
    return isSame ? this : Continuation.of(signals, false, signals.length);
  }

  /** Stop or go on? Signals stop, a requested continuation overrides them, tools asked for lead on. */
  shouldStop(askedForTools: boolean): boolean {
    if (this.signals.length > 0 && !this.isRequested) return true;
    return !this.isRequested && !askedForTools;
  }

  /** The same decision in words. */
  explain(askedForTools: boolean): string {
    if (this.isRequested) return 'go on: continuation requested';
    if (this.highest) return `stop: ${this.highest.reason}`;
    return askedForTools ? 'go on: tools requested' : 'stop: nothing left to do';
  }

  toJSON(): object {
    return this.encode(Continuation.empty);
  }

  /** The document, without the signals of the step before: `continues` stands for them. @internal */
  encode(previous: Continuation): object {
    const known = previous.signals;
    const continues = known.length > 0 && known.every((signal, index) => signal === this.signals[index]);
    const signals = continues ? this.signals.slice(known.length) : this.signals;
    return compact({
      continues: continues || undefined,
      signals: signals.length === 0 ? undefined : signals,
      isRequested: this.isRequested || undefined,
      overruledSignals: this.overruledSignals || undefined,
    });
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): Continuation {
    return DocumentReader.read(json, Continuation.read);
  }

  /** @internal */
  static decode(reader: DocumentReader, value: unknown, previous: Continuation): Continuation {
    const members = reader.members(value, NAMES);
    const continues = reader.optional(members, 'continues', readTrue) ?? false;
    if (continues && previous.signals.length === 0) reader.fail('a step before that had signals', value);
    const added = reader.optional(members, 'signals', readSignals) ?? NOTHING;
    const signals = continues ? Object.freeze([...previous.signals, ...added]) : added;
    const isRequested = reader.optional(members, 'isRequested', readTrue) ?? false;
    const overruledSignals = reader.optional(members, 'overruledSignals', readFilledCount) ?? 0;
    if (signals.length === 0 && !isRequested)
      reader.fail('a signal or a request, or no continuation at all', value);
    if (overruledSignals > signals.length)
      reader.fail('at most as many overruled signals as there are', overruledSignals);
    return Continuation.of(signals, isRequested, overruledSignals);
  }

  /** @internal */
  static readonly read: Read<Continuation> = (reader, value) =>
    Continuation.decode(reader, value, Continuation.empty);
}

const NOTHING: readonly never[] = Object.freeze([]);
const NAMES = new Set(['continues', 'signals', 'isRequested', 'overruledSignals']);
const SIGNAL_NAMES = new Set(['reason', 'message', 'context', 'source']);
const readFilledCount = readFilled(readCount);
const readReason = readOneOf(STOP_REASONS);

const readSignals: Read<readonly StopSignal[]> = (reader, value) => reader.filledList(value, readSignal);

const readSignal: Read<StopSignal> = (reader, value) => {
  const members = reader.members(value, SIGNAL_NAMES);
  return compact({
    reason: reader.required(members, 'reason', readReason),
    message: reader.required(members, 'message', readString),
    context: reader.optional(members, 'context', readJsonObject),
    source: reader.optional(members, 'source', readString),
  }) as StopSignal;
};
