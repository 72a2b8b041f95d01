import { hasErrorCode, HoldfastError, invalidArgument } from '../../errors.ts';
import {
  DocumentReader,
  orderedReader,
  readCount,
  readFilledList,
  readNonEmpty,
  readJsonObject,
  readOneOf,
  readString,
  readTrue,
  type Read,
} from '../../document.ts';
import { compact, isSameJson, namesOf, toJsonObject, type JsonObject } from '../../json.ts';
import { List, ListCache } from '../values/list.ts';
import { checkArgument, mustBe, requireObject, requireString, wrongArgument } from '../../arguments.ts';
import { NOTHING } from '../values/frozen-array.ts';

/** Every stop reason and its rank. The lowest number has precedence. */
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

/** The reason of a stop signal. */
export type StopReason = keyof typeof STOP_REASON_RANK;

export const STOP_REASONS: readonly StopReason[] = namesOf(STOP_REASON_RANK);

/** A stop signal: a request to end the execution, with its reason. */
export interface StopSignal {
  readonly reason: StopReason;
  /** A description of the cause, for people. */
  readonly message: string;
  /** JSON facts for programs, such as the limit and the consumed amount. */
  readonly context?: JsonObject;
  /** The origin of the signal: a guard, a tool, a caller. */
  readonly source?: string;
}

const REASON = mustBe.oneOf(STOP_REASONS);
const SIGNAL_NAMES = new Set(['reason', 'message', 'context', 'source']);

/**
 * Creates a frozen stop signal.
 * @throws RangeError `ARGUMENT_INVALID` for an unknown reason, TypeError `ARGUMENT_INVALID` for a value that is not a
 * signal, HoldfastError `NOT_JSON` for facts that are not JSON.
 */
export function stopSignal(signal: {
  readonly reason: StopReason;
  readonly message?: string;
  readonly context?: JsonObject | undefined;
  readonly source?: string | undefined;
}): StopSignal {
  requireObject(signal, 'a stop signal: an object with a reason');
  for (const name in signal) if (!SIGNAL_NAMES.has(name)) throw unknownSignalMember(name);
  const { reason, message = reason, context, source } = signal;
  checkArgument('The reason of a stop signal', reason, REASON);
  requireString(message, 'a string as the message of a stop signal');
  if (source !== undefined) requireString(source, 'a string as the source of a stop signal');
  return compact({
    reason,
    message,
    context: context === undefined ? undefined : toJsonObject(context),
    source,
  }) as StopSignal;
}

function unknownSignalMember(name: string): Error {
  const known = [...SIGNAL_NAMES].join(', ');
  const message = `A stop signal has no member "${name}". Known members: ${known}. Put facts into "context".`;
  return invalidArgument(message, TypeError);
}

/** True unless the signal belongs to a final response. */
export function isForceStop(signal: StopSignal): boolean {
  return signal.reason !== 'completed' && signal.reason !== 'finishReasonReceived';
}

/**
 * A tool, a hook or a driver throws it to end the execution. The work done so far stays, and the execution ends with the reason
 * of the signal. A text alone means the reason `stopRequested`.
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

/** True for an `AgentStop`, whichever copy of the package created it. */
export function isAgentStop(error: unknown): error is AgentStop {
  if (!hasErrorCode(error, 'AGENT_STOP')) return false;
  try {
    stopSignal((error as AgentStop).signal);
    return true;
  } catch {
    return false; // the error has the code, but no valid signal
  }
}

type ContinuationFields = Pick<Continuation, 'raised' | 'highest' | 'isRequested' | 'overruledSignals'>;

/** The signals of each list as an array. Creating the array costs the whole list, so it is cached. */
const arrays = new ListCache<readonly StopSignal[]>();

/** The stop signals and the requests for another step, at one instant of an execution. */
export class Continuation {
  static readonly empty: Continuation = new Continuation({
    raised: List.empty(),
    highest: undefined,
    isRequested: false,
    overruledSignals: 0,
  });

  /** All signals of this execution in order; shares structure with the list of the step before. @internal */
  readonly raised: List<StopSignal>;
  /** The signal with the highest rank; among equals, the first. */
  readonly highest: StopSignal | undefined;
  /** True when another step is requested, which overrides stop signals. */
  readonly isRequested: boolean;
  /** The number of signals that the open step overrode when it started. */
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

  /** All signals of this execution, in order. */
  get signals(): readonly StopSignal[] {
    const known = this.raised.isEmpty ? NOTHING : arrays.get(this.raised);
    if (known !== undefined) return known;
    const signals = Object.freeze(this.raised.toArray());
    arrays.set(this.raised, signals);
    return signals;
  }

  /** True when the highest signal ends the execution without a final response. */
  get wasForceStopped(): boolean {
    return this.highest !== undefined && isForceStop(this.highest);
  }

  /** True when a signal was raised after the open step started. */
  get hasNewSignals(): boolean {
    return this.raised.length > this.overruledSignals;
  }

  /**
   * True when a forced stop was raised after the open step started, and no further step is requested. The execution then
   * ends, whatever hooks return.
   */
  get isStopped(): boolean {
    if (this.isRequested || !this.hasNewSignals) return false;
    return this.raised.slice(this.overruledSignals).some(isForceStop);
  }

  /** True when the same source has raised the same reason since the open step started. */
  includes({ reason, source }: StopSignal): boolean {
    const raised = this.raised.slice(this.overruledSignals);
    return raised.some((known) => known.reason === reason && known.source === source);
  }

  /**
   * Returns the continuation with a copy of a signal.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid signal, HoldfastError `NOT_JSON` for facts that
   * are not JSON.
   */
  withSignal(signal: StopSignal): Continuation {
    return this.withChecked([stopSignal(signal)]);
  }

  private withChecked(signals: readonly StopSignal[]): Continuation {
    const highest = signals.reduce(higher, this.highest);
    return this.with({ raised: this.raised.concat(signals), highest });
  }

  /** Returns the continuation without the signals of one reason. @internal */
  withoutReason(reason: StopReason): Continuation {
    if (this.highest === undefined) return this;
    const raised = List.from([...this.raised].filter((signal) => signal.reason !== reason));
    if (raised.length === this.raised.length) return this;
    const highest = raised.toArray().reduce<StopSignal | undefined>(higher, undefined);
    return this.with({ raised, highest, overruledSignals: Math.min(this.overruledSignals, raised.length) });
  }

  /**
   * Returns the continuation with the signals of an earlier one, which a hook received. A forced stop is final: a request
   * for another step does not override it, and no signal after it declares the response final. @internal
   */
  withStopsOf(before: Continuation): Continuation {
    if (this === before || (this.raised.isEmpty && before.raised.isEmpty)) return this;
    const shared = this.raised.since(before.raised);
    const given =
      shared ?? this.signals.filter((signal) => !before.signals.some((known) => isSameJson(known, signal)));
    const added = before.isStopped ? given.filter(isForceStop) : given;
    const isStopped = before.isStopped || added.some(isForceStop);
    if (shared === added && !isStopped) return this;
    const { raised, highest } = added === shared ? this : before.withChecked(added);
    const overruled = isStopped ? before.overruledSignals : Math.min(this.overruledSignals, raised.length);
    const isRequested = this.isRequested && !isStopped;
    return this.with({ raised, highest, isRequested, overruledSignals: overruled });
  }

  /** Returns the continuation with a request for another step. */
  withRequested(): Continuation {
    return this.isRequested ? this : this.with({ isRequested: true });
  }

  /** Returns the continuation without a request for another step. */
  withoutRequest(): Continuation {
    return this.isRequested ? this.with({ isRequested: false }) : this;
  }

  /** Returns the continuation as a step starts: the step consumes the request and overrides the present signals. */
  withStepBegun(): Continuation {
    const { length } = this.raised;
    const isSame = !this.isRequested && this.overruledSignals === length;
    return isSame ? this : this.with({ isRequested: false, overruledSignals: length });
  }

  /**
   * Returns true when the loop must stop. Signals stop it, a requested step overrides them, and tool calls need another
   * step.
   */
  shouldStop(hasToolCalls: boolean): boolean {
    if (!this.raised.isEmpty && !this.isRequested) return true;
    return !this.isRequested && !hasToolCalls;
  }

  /** Explains the decision of `shouldStop` in words. */
  explain(hasToolCalls: boolean): string {
    if (this.isRequested) return 'continue: another step requested';
    if (this.highest) return `stop: ${this.highest.reason}`;
    return hasToolCalls ? 'continue: tools requested' : 'stop: nothing left to do';
  }

  toJSON(): object {
    return this.encode(Continuation.empty);
  }

  /** Returns the document. `continues` stands for the signals of the step before. @internal */
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

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): Continuation {
    return DocumentReader.read(json, (reader, value) =>
      Continuation.decode(reader, value, Continuation.empty),
    );
  }

  /** @internal */
  static decode(reader: DocumentReader, value: unknown, previous: Continuation): Continuation {
    const { continues, signals, isRequested = false, overruledSignals = 0 } = readFields(reader, value);
    if (continues && previous.raised.isEmpty) reader.fail('an earlier step with signals to continue', value);
    const { raised, highest } = (continues ? previous : Continuation.empty).withChecked(signals ?? NOTHING);
    if (overruledSignals > raised.length) reader.fail('at most the number of signals', overruledSignals);
    return Continuation.empty.with({ raised, highest, isRequested, overruledSignals });
  }
}

/** Returns a reader of a continuation that is not empty and follows `previous`. */
export function readContinuation(previous: Continuation = Continuation.empty): Read<Continuation> {
  return readNonEmpty((reader, value) => Continuation.decode(reader, value, previous));
}

/** @throws TypeError `ARGUMENT_INVALID`. */
export function requireContinuation(continuation: Continuation): void {
  if (!(continuation instanceof Continuation))
    throw wrongArgument(continuation, 'a Continuation, such as Continuation.empty');
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

const readFields = orderedReader({
  'continues?': readTrue,
  'signals?': readFilledList(readSignal),
  'isRequested?': readTrue,
  'overruledSignals?': readNonEmpty(readCount),
});
