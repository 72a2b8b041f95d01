import type { Instant } from '../../clock.ts';
import type { Schedule } from './engine.ts';

/** A stored request for work on a session. */
export interface WakeUp extends Schedule {
  readonly sessionId: string;
  /** No worker takes the session for this wake-up before. */
  readonly at: Instant;
  /**
   * True when an advance has returned this schedule: without a lane or a group, the session has none. Otherwise the lane or
   * the group is unknown, and the engine asks for it. A queue that does not store `isRouted` costs one more look at such a
   * session in each turn.
   */
  readonly isRouted?: boolean | undefined;
}

/** A session that a worker has taken from the queue. No other worker takes it until the lock ends. */
export interface LockedSession {
  readonly sessionId: string;
  /** The lane, the priority and the group of the wake-up. */
  readonly schedule: Schedule;
  /** `isRouted` of the wake-up. */
  readonly isRouted?: boolean | undefined;
  /** Since when the session is due: the earliest of the wake-ups that the lock covers. For the metrics of the engine. */
  readonly dueAt?: Instant | undefined;
  /** True when the queue delivers the session again, because the lock of its last worker has ended. For the metrics. */
  readonly isRecovery?: boolean | undefined;
}

/** The wake-ups and the pause that a queue stores when the work on a session has ended. */
export interface FollowUp {
  /** The wake-ups that follow from the result of the work. */
  readonly wakeUps: readonly WakeUp[];
  /** A lane of which no worker takes a session before an instant. */
  readonly pause?: { readonly lane: string; readonly until: Instant } | undefined;
}

/** The wake-ups of a lane that are due and wait for a worker. */
export interface LaneBacklog {
  /** `undefined` for the wake-ups without a lane. */
  readonly lane: string | undefined;
  readonly waiting: number;
  /** Since when the one that waits longest is due, or the next one, where the queue cannot find the longest. */
  readonly since?: Instant | undefined;
}

/**
 * The wake-ups of an engine: in memory, in a database, or in a message queue. `QueueEngine` makes an engine of it.
 *
 * A session that several wake-ups name is taken once for all that are due. A wake-up that arrives while the session is
 * locked stays, and the session is taken again after the lock has ended.
 */
export interface WakeUpQueue<Lock extends LockedSession = LockedSession> {
  /**
   * The seconds after which the lock of a dead worker ends. The engine renews the locks three times in this period.
   * Absent when locks end only with `finish`, such as in the memory of one process.
   */
  readonly lockSeconds?: number | undefined;
  /**
   * True when the queue limits how many sessions of a group are worked on. The engine then learns the group of each session
   * before the work.
   */
  readonly limitsGroups?: boolean | undefined;
  /** Called when a worker starts, before its first `take`. The function that it returns is called when the worker stops. */
  open?(): Promise<(() => void) | undefined>;
  /** Stores wake-ups. Resolves when they are stored. Merges those of one session at the same instant. */
  add(wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Locks the session whose turn it is, and removes its wake-ups that are due when the lock ends. Returns `undefined` when
   * no session is due. The engine does not call it again before the promise has settled.
   */
  take(): Promise<Lock | undefined>;
  /**
   * Resolves when `take` may find a session, or when the signal aborts. The engine calls it only while it could take a
   * session, and after `take` has found none. An extra call of `take` does no harm.
   */
  wait(signal: AbortSignal): Promise<void>;
  /** Renews locks. Returns those of `locks` that have ended: other workers may have taken their sessions. */
  renew?(locks: readonly Lock[]): Promise<readonly Lock[]>;
  /**
   * Returns true when a session may take its next turn with the lock that it has, because its lane and group have no limit
   * and no pause. The engine asks only while the worker has free places for other sessions. Without this method, a session
   * goes back to the queue after each turn.
   */
  mayContinue?(lock: Lock): boolean;
  /**
   * Ends a lock and stores what follows. A process that dies in between must not drop either: the queue does both in one
   * transaction, or ends the lock last. It stores what follows also when the lock has ended before.
   */
  finish(lock: Lock, followUp: FollowUp): Promise<void>;
  /** Calls `work` once and returns its result, for a queue that traces the work on a session. */
  trace?<T>(lock: Lock, work: () => Promise<T>): Promise<T>;
  /** Returns what waits in each lane. For health checks and metrics. */
  backlog?(): Promise<readonly LaneBacklog[]>;
}
