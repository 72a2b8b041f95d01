import { describeValue, hasErrorCode, HoldfastError, invalidArgument } from '../../errors.ts';
import type { Read } from '../../document.ts';
import type { JsonObject } from '../../json.ts';
import {
  DocumentReader,
  orderedReader,
  readCount,
  readNonEmpty,
  readJsonObject,
  readOneOf,
  readString,
  readTrue,
} from '../../document.ts';
import { compact, toJsonObject } from '../../json.ts';
import { List, ListCache } from '../values/list.ts';
import { requireObject, requireString, wrongArgument } from '../../arguments.ts';

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

const SIGNAL_NAMES = new Set(['reason', 'message', 'context', 'source']);

/**
 * A frozen signal.
 * @throws RangeError `ARGUMENT_INVALID` for a reason that there is not, TypeError `ARGUMENT_INVALID` for what is not a
 * signal, HoldfastError `NOT_JSON` for facts that are not JSON.
 */
export function stopSignal(signal: {
  readonly reason: StopReason;
  readonly message?: string;
  readonly context?: JsonObject | undefined;
  readonly source?: string | undefined;
}): StopSignal {
  requireObject(signal, 'a signal: an object with a reason to stop');
  for (const name in signal) if (!SIGNAL_NAMES.has(name)) throw unknownSignalMember(name);
  const { reason, message = reason, context, source } = signal;
  if (!Object.hasOwn(STOP_REASON_RANK, reason)) {
    throw invalidArgument(
      `A reason to stop is one of ${STOP_REASONS.join(', ')}, found ${describeValue(reason)}.`,
    );
  }
  requireString(message, 'the message of a signal as a string');
  if (source !== undefined) requireString(source, 'the source of a signal as a string');
  return compact({
    reason,
    message,
    context: context === undefined ? undefined : toJsonObject(context),
    source,
  }) as StopSignal;
}

function unknownSignalMember(name: string): Error {
  const known = [...SIGNAL_NAMES].join(', ');
  return invalidArgument(
    `A signal has no member "${name}". Known members: ${known}; facts go into the context.`,
    TypeError,
  );
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

type ContinuationFields = Pick<Continuation, 'raised' | 'highest' | 'isRequested' | 'overruledSignals'>;

/** What was asked for of a list of signals as an array: of one list the same, as each array costs the whole list. */
const arrays = new ListCache<readonly StopSignal[]>();
const NOTHING: readonly never[] = Object.freeze([]);

/** What speaks for stopping and for going on, at one moment of an execution. */
export class Continuation {
  static readonly empty: Continuation = new Continuation({
    raised: List.empty(),
    highest: undefined,
    isRequested: false,
    overruledSignals: 0,
  });

  /** All signals raised in this execution, in order; shares structure with those of the step before. @internal */
  readonly raised: List<StopSignal>;
  /** The signal that ranks first; among equals, the first raised. */
  readonly highest: StopSignal | undefined;
  /** Somebody asked for another step, signals or not. */
  readonly isRequested: boolean;
  /** How many of the signals the step in progress was begun in spite of. */
  readonly overruledSignals: number;

  private constructor(fields: ContinuationFields) {
    this.raised = fields.raised;
    this.highest = fields.highest;
    this.isRequested = fields.isRequested;
    this.overruledSignals = fields.overruledSignals;
    Object.freeze(this);
  }

  private with(changes: Partial<ContinuationFields>): Continuation {
    const { raised, highest, isRequested, overruledSignals } = this;
    const fields = { raised, highest, isRequested, overruledSignals, ...changes };
    return fields.raised.isEmpty && !fields.isRequested ? Continuation.empty : new Continuation(fields);
  }

  /** All signals raised in this execution, in order. */
  get signals(): readonly StopSignal[] {
    const known = this.raised.isEmpty ? NOTHING : arrays.get(this.raised);
    if (known !== undefined) return known;
    const signals = Object.freeze(this.raised.toArray());
    arrays.set(this.raised, signals);
    return signals;
  }

  /** True when the highest signal ends the execution before its own answer did. */
  get wasForceStopped(): boolean {
    return this.highest !== undefined && isForceStop(this.highest);
  }

  /** True when a signal was raised since the step in progress was begun. */
  get hasNewSignals(): boolean {
    return this.raised.length > this.overruledSignals;
  }

  /** True when its source has given the same reason before. */
  includes({ reason, source }: StopSignal): boolean {
    for (const known of this.raised) if (known.reason === reason && known.source === source) return true;
    return false;
  }

  /**
   * The same with a copy of a signal.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for what is not a signal, HoldfastError `NOT_JSON` for facts that are not JSON.
   */
  withSignal(signal: StopSignal): Continuation {
    return this.withChecked([stopSignal(signal)]);
  }

  private withChecked(signals: readonly StopSignal[]): Continuation {
    const highest = signals.reduce(higher, this.highest);
    return this.with({ raised: this.raised.concat(signals), highest });
  }

  /** The same without the signals of one reason. @internal */
  withoutReason(reason: StopReason): Continuation {
    if (this.highest === undefined) return this;
    const raised = List.from([...this.raised].filter((signal) => signal.reason !== reason));
    if (raised.length === this.raised.length) return this;
    const highest = raised.toArray().reduce<StopSignal | undefined>(higher, undefined);
    return this.with({ raised, highest, overruledSignals: Math.min(this.overruledSignals, raised.length) });
  }

  /** The same with another step asked for. */
  withRequested(): Continuation {
    return this.isRequested ? this : this.with({ isRequested: true });
  }

  /** The same without a request for another step. */
  withoutRequest(): Continuation {
    return this.isRequested ? this.with({ isRequested: false }) : this;
  }

  /** The same as a step begins: the request is used up, in spite of the signals there were. */
  withStepBegun(): Continuation {
    const { length } = this.raised;
    const isSame = !this.isRequested && this.overruledSignals === length;
    return isSame ? this : this.with({ isRequested: false, overruledSignals: length });
  }

  /** Stop or go on? Signals stop, a requested continuation overrides them, tools asked for lead on. */
  shouldStop(hasToolCalls: boolean): boolean {
    if (!this.raised.isEmpty && !this.isRequested) return true;
    return !this.isRequested && !hasToolCalls;
  }

  /** The same decision in words. */
  explain(hasToolCalls: boolean): string {
    if (this.isRequested) return 'go on: continuation requested';
    if (this.highest) return `stop: ${this.highest.reason}`;
    return hasToolCalls ? 'go on: tools requested' : 'stop: nothing left to do';
  }

  toJSON(): object {
    return this.encode(Continuation.empty);
  }

  /** The document, without the signals of the step before: `continues` stands for them. @internal */
  encode(previous: Continuation): object {
    const added = previous.raised.isEmpty ? undefined : this.raised.since(previous.raised);
    const signals = added ?? this.raised.slice();
    return compact({
      continues: added === undefined ? undefined : true,
      signals: signals.length === 0 ? undefined : signals,
      isRequested: this.isRequested || undefined,
      overruledSignals: this.overruledSignals || undefined,
    });
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): Continuation {
    return DocumentReader.read(json, (reader, value) =>
      Continuation.decode(reader, value, Continuation.empty),
    );
  }

  /** @internal */
  static decode(reader: DocumentReader, value: unknown, previous: Continuation): Continuation {
    const members = reader.members(value, NAMES);
    const continues = reader.optional(members, 'continues', readTrue) ?? false;
    if (continues && previous.raised.isEmpty) reader.fail('a step before that had signals', value);
    const added = reader.optional(members, 'signals', readSignals) ?? NOTHING;
    const { raised, highest } = (continues ? previous : Continuation.empty).withChecked(added);
    const isRequested = reader.optional(members, 'isRequested', readTrue) ?? false;
    const overruledSignals = reader.optional(members, 'overruledSignals', readNonZeroCount) ?? 0;
    if (overruledSignals > raised.length)
      reader.fail('at most as many overruled signals as there are', overruledSignals);
    return Continuation.empty.with({ raised, highest, isRequested, overruledSignals });
  }
}

/** Reads one that says something, after that of the step before. */
export function readContinuation(previous: Continuation = Continuation.empty): Read<Continuation> {
  return readNonEmpty((reader, value) => Continuation.decode(reader, value, previous));
}

const NAMES = new Set(['continues', 'signals', 'isRequested', 'overruledSignals']);
const readNonZeroCount = readNonEmpty(readCount);

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireContinuation(continuation: Continuation): void {
  if (!(continuation instanceof Continuation))
    throw wrongArgument(continuation, 'a Continuation, as those that begin with Continuation.empty are');
}

function higher(highest: StopSignal | undefined, signal: StopSignal): StopSignal {
  const isHigher = !highest || STOP_REASON_RANK[signal.reason] < STOP_REASON_RANK[highest.reason];
  return isHigher ? signal : highest;
}

const readSignal: Read<StopSignal> = orderedReader({
  reason: readOneOf(STOP_REASONS),
  message: readString,
  'context?': readJsonObject,
  'source?': readString,
});

const readSignals: Read<readonly StopSignal[]> = (reader, value) => reader.nonEmptyList(value, readSignal);
