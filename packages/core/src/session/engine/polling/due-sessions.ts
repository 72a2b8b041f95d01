import { notifyQuietly, onLook } from '../../../channel/quiet-calls.ts';
import type { SessionChannel } from '../../../channel/session-channel.ts';
import { callAfter, newId, type Clock, type Instant } from '../../../clock.ts';
import { jitterOf } from '../../../backoff.ts';
import type { DueSession, SessionDirectory } from '../../session-directory.ts';
import type { GroupLimits } from '../queue/group-limits.ts';
import type { LaneLimits } from '../queue/lane-turns.ts';
import { MemoryWakeUps } from '../queue/memory-wake-ups.ts';
import { takeSession } from '../sweep.ts';
import { UnreadablePauses } from '../unreadable-pauses.ts';
import type { FollowUp, LockedSession, WakeUp, WakeUpQueue } from '../wake-up-queue.ts';
import type { Schedule } from '../engine.ts';

/** A session that this process may start: after the store has given it, or while an earlier take of it lasts. */
type Candidate = { readonly due: DueSession } | { readonly takenUntil: Instant };

export interface DueSessionsParts {
  readonly store: SessionDirectory;
  readonly channel: Pick<SessionChannel, 'notify' | 'onNotification'> | undefined;
  readonly clock: Clock;
  readonly lanes: Readonly<Record<string, LaneLimits>>;
  readonly groupLimits: GroupLimits | undefined;
  readonly pollSeconds: number;
  readonly againAfterSeconds: number;
}

/** The channel has no session of this id: workers listen for notifications of it. */
const TOPIC = 'holdfast/polling-engine';
const PAGE = 100;
/** The pages to read when no session of a page can start: other workers are faster, or its lanes are paused. */
const MAX_PAGES = 10;
/** When other workers take so many sessions of a page first, the rest of it is probably taken too. */
const MAX_LOSSES = 3;
const NOTHING: FollowUp = Object.freeze({ wakeUps: [] });

/** The due sessions of a store, as a queue of wake-ups. It orders the sessions of a page by lane, priority and group. */
export class DueSessions implements WakeUpQueue {
  readonly limitsGroups: boolean;
  private readonly parts: DueSessionsParts;
  private readonly turns: MemoryWakeUps;
  private readonly schedules = new KnownSchedules();
  private readonly instants = new NextInstants();
  /** The sessions of the last pages that have not started. */
  private readonly candidates = new Map<string, Candidate>();
  /** The sessions that the engine works on, and until when the store shows them to no other worker. */
  private readonly locked = new Map<string, Instant>();
  /** The locked sessions that were woken, or due again: an item may have come after the end of their advance. */
  private readonly again = new Set<string>();
  /** Unreadable sessions, which no worker can take. */
  private readonly unreadable = new UnreadablePauses();
  private mustLook = true;
  /** The next page to read, when no session of this page could start. */
  private cursor: string | undefined;
  private pages = 0;
  private wins = 0;
  private losses = 0;
  /** True when another worker took a session first, since the store last showed no due session. */
  private hasRivals = false;
  /** The latest instant of the next look at the store. */
  private pollAt: Instant = 0;
  private endWait: (() => void) | undefined;

  constructor(parts: DueSessionsParts) {
    this.parts = parts;
    this.limitsGroups = parts.groupLimits !== undefined;
    this.turns = new MemoryWakeUps(parts.clock, parts.lanes, parts.groupLimits);
  }

  /** Looks at the store, now and when another process wakes a session, until the worker stops. */
  async open(): Promise<(() => void) | undefined> {
    this.look();
    return onLook(this.parts.channel, TOPIC, () => this.look());
  }

  /** Stores nothing: the state of each session is stored already. Notifies other workers unless this one is idle. */
  async add(wakeUps: readonly WakeUp[]): Promise<void> {
    const isIdle = this.endWait !== undefined;
    const isDue = this.note(wakeUps);
    if (isDue && !isIdle) await notifyQuietly(this.parts.channel, TOPIC, { type: 'look' });
  }

  async take(): Promise<LockedSession | undefined> {
    for (;;) {
      if (this.mustLook) await this.findDue();
      const lock = await this.turns.take();
      if (lock !== undefined) {
        if (await this.isTaken(lock)) return lock;
      } else if (!this.mustLook && !this.hasMore()) return undefined;
    }
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (this.mustLook || signal.aborted) return;
    const { clock } = this.parts;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    this.endWait = end;
    signal.addEventListener('abort', end);
    const at = Math.min(this.pollAt, this.instants.first ?? Infinity);
    const callOff = callAfter(clock, at - clock.now(), () => this.look());
    await this.turns.wait(ended.signal);
    callOff();
    signal.removeEventListener('abort', end);
    this.endWait = undefined;
  }

  async finish(lock: LockedSession, { wakeUps, pause }: FollowUp): Promise<void> {
    const { sessionId, schedule, isRouted: wasRouted = false } = lock;
    const takenUntil = this.locked.get(sessionId) ?? 0;
    this.locked.delete(sessionId);
    const { limitsGroups } = this;
    const { clock } = this.parts;
    const hasLearned = ({ lane, group }: WakeUp): boolean =>
      (schedule.lane === undefined && lane !== undefined) ||
      (limitsGroups && schedule.group === undefined && group !== undefined);
    // The advance has only learned the lane or the group. The store still shows the session to no other worker.
    const routed = wakeUps.filter(
      (wakeUp) =>
        !wasRouted && wakeUp.sessionId === sessionId && hasLearned(wakeUp) && wakeUp.at <= clock.now(),
    );
    for (const wakeUp of routed) {
      this.schedules.add(sessionId, wakeUp);
      this.candidates.set(sessionId, { takenUntil });
    }
    await this.turns.finish(lock, { wakeUps: routed, pause });
    this.note(wakeUps.filter((wakeUp) => !routed.includes(wakeUp)));
    if (this.again.delete(sessionId)) this.look();
  }

  /** Remembers schedules and instants. Returns true when a wake-up is due. */
  private note(wakeUps: readonly WakeUp[]): boolean {
    const now = this.parts.clock.now();
    for (const { sessionId, at, ...schedule } of wakeUps) {
      this.schedules.add(sessionId, schedule);
      if (at > now) {
        this.instants.add(at);
        this.endWait?.(); // the next wait has a timer for it
      }
      if (this.locked.has(sessionId)) this.again.add(sessionId);
    }
    const isDue = wakeUps.some(({ at }) => at <= now);
    if (isDue) this.look();
    return isDue;
  }

  private look(): void {
    this.mustLook = true;
    this.pages = 0;
    this.cursor = undefined;
    this.endWait?.();
    this.endWait = undefined;
  }

  /** Reads a page of due sessions. */
  private async findDue(): Promise<void> {
    const { store, clock, pollSeconds } = this.parts;
    this.mustLook = false;
    this.pollAt = clock.now() + pollSeconds * 1_000 * jitterOf(newId(clock));
    try {
      const { sessions, unreadable, cursor } = await store.due({ cursor: this.cursor, limit: PAGE });
      if (!this.mustLook) this.cursor = cursor;
      if (sessions.length > 0) this.pages++; // pages of unreadable sessions do not end the look
      this.wins = 0;
      this.losses = 0;
      const now = clock.now();
      this.instants.removeUntil(now);
      if (sessions.length === 0) this.hasRivals = false;
      const last = unreadable.map(({ sessionId }) => ({ sessionId, dueAt: now }));
      const inOrder = [...this.inOrder(sessions), ...last];
      await this.turns.add(inOrder.flatMap((due) => this.candidateOf(due, now)));
    } catch (error) {
      this.mustLook = true;
      throw error;
    }
  }

  /** Workers that compete begin at different sessions of a page. */
  private inOrder(sessions: readonly DueSession[]): readonly DueSession[] {
    if (!this.hasRivals) return sessions;
    const share = 2 * jitterOf(newId(this.parts.clock)) - 1;
    const start = Math.floor(share * sessions.length);
    return [...sessions.slice(start), ...sessions.slice(0, start)];
  }

  private candidateOf(due: DueSession, now: Instant): readonly WakeUp[] {
    const { sessionId, dueAt } = due;
    if (this.locked.has(sessionId)) this.again.add(sessionId);
    if (this.locked.has(sessionId) || this.unreadable.isPaused(sessionId, now)) return [];
    this.candidates.set(sessionId, { due });
    return [{ sessionId, at: Math.min(dueAt, now), ...this.schedules.get(sessionId) }];
  }

  /** True when another page may have a session that can start: after a full page, from the first on if one has started. */
  private hasMore(): boolean {
    if (this.cursor === undefined || this.pages >= MAX_PAGES) return false;
    if (this.wins > 0) this.look();
    this.mustLook = true;
    return true;
  }

  /** Takes the session of a lock from the store. Ends the lock when another worker was faster. */
  private async isTaken(lock: LockedSession): Promise<boolean> {
    const { sessionId } = lock;
    const candidate = this.candidates.get(sessionId);
    this.candidates.delete(sessionId);
    let until: Instant | undefined;
    try {
      until = await this.takeCandidate(candidate);
    } finally {
      if (until === undefined) await this.turns.finish(lock, NOTHING);
      else this.locked.set(sessionId, until);
    }
    return until !== undefined;
  }

  /** Returns until when the store shows the session to no other worker; `undefined` when this one must not start it. */
  private async takeCandidate(candidate: Candidate | undefined): Promise<Instant | undefined> {
    if (candidate === undefined) return undefined;
    const { store, clock, againAfterSeconds } = this.parts;
    const now = clock.now();
    if ('takenUntil' in candidate) {
      if (candidate.takenUntil > now) return candidate.takenUntil;
      this.look(); // it may be due again
      return undefined;
    }
    const { due } = candidate;
    const taken = await takeSession(store, due, againAfterSeconds);
    const until = now + againAfterSeconds * 1_000;
    if (taken === 'unreadable') this.unreadable.begin(due.sessionId, now, againAfterSeconds);
    if (taken === false) this.lose();
    else this.wins++;
    return taken === false ? undefined : until;
  }

  private lose(): void {
    this.hasRivals = true;
    if (++this.losses < MAX_LOSSES) return;
    for (const [sessionId, candidate] of this.candidates)
      if ('due' in candidate) this.candidates.delete(sessionId);
    if (this.pages < MAX_PAGES) this.mustLook = true;
  }
}

const MAX_SESSIONS = 10_000;

/** The last known schedules of the sessions that this process has seen last. */
export class KnownSchedules {
  private readonly schedules = new Map<string, Schedule>();

  /** Remembers a schedule. An empty one does not replace another. */
  add(sessionId: string, { lane, priority, group }: Schedule): void {
    if (lane === undefined && priority === undefined && group === undefined) return;
    this.schedules.delete(sessionId);
    this.schedules.set(sessionId, { lane, priority, group });
    if (this.schedules.size <= MAX_SESSIONS) return;
    const [oldest] = this.schedules.keys();
    this.schedules.delete(oldest as string);
  }

  get(sessionId: string): Schedule {
    return this.schedules.get(sessionId) ?? {};
  }
}

const MAX_INSTANTS = 1_000;

/** The next instants at which something happens, each once. It forgets the furthest beyond 1,000. */
export class NextInstants {
  private readonly instants: Instant[] = [];

  get first(): Instant | undefined {
    return this.instants[0];
  }

  add(instant: Instant): void {
    const { instants } = this;
    const place = instants.findIndex((other) => other >= instant);
    if (instants[place] === instant) return;
    instants.splice(place === -1 ? instants.length : place, 0, instant);
    if (instants.length > MAX_INSTANTS) instants.pop();
  }

  removeUntil(now: Instant): void {
    const place = this.instants.findIndex((instant) => instant > now);
    this.instants.splice(0, place === -1 ? this.instants.length : place);
  }
}
