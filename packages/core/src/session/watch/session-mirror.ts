import type { ChannelEntry } from '../../channel/channel-entry.ts';
import {
  expectedResponse,
  isSameResponse,
  withDelta,
  type PartialResponse,
} from '../../channel/partial-response.ts';
import { PatchedState } from '../../channel/patched-state.ts';
import type { AgentSession } from '../session.ts';
import { SESSION_STATUSES } from '../session-info.ts';

/** A session as its worker has it now. Immutable: each change gives another view. */
export interface SessionView {
  /**
   * The session. Its `state` is the live state, which can be newer than the store; its `revision` and `status` are those
   * of the last save.
   */
  readonly session: AgentSession;
  /** The response that the model writes now, as far as it has arrived. */
  readonly partial: PartialResponse | undefined;
  /** True when the store has everything that the view shows. */
  readonly isSaved: boolean;
}

/** The series that the mirror reads, and the number of its next entry. */
interface Position {
  readonly epoch: number;
  readonly series: number;
  readonly next: number;
}

/**
 * The result of an entry. `load`: the session must be loaded first, and the entry used again. `missed`: an entry before
 * it is missing.
 */
type Receipt = 'done' | 'load' | 'missed';

const NO_POSITION: Position = Object.freeze({ epoch: -1, series: -1, next: 0 });

/**
 * Folds the entries of a tail into the saved session. It drops what is older than what it has used, and it waits for the
 * next series after an entry that is missing or does not fit: it never shows a state that no worker had.
 */
export class SessionMirror {
  /** The session as it was last saved, as far as the mirror knows. */
  private base: AgentSession;
  private patched: PatchedState;
  private partial: PartialResponse | undefined;
  private position = NO_POSITION;
  /** True when the mirror waits for the beginning of a series. */
  private isBlind = false;
  private current: SessionView | undefined;

  constructor(session: AgentSession) {
    this.base = session;
    this.patched = new PatchedState(session.state);
  }

  /** The view after all entries. It is another object exactly when it has changed. */
  get view(): SessionView {
    return (this.current ??= this.createView());
  }

  /** Replaces the saved session by the one in the store, unless the mirror has the same. */
  load(session: AgentSession): void {
    const { incarnation, version } = this.base.revision;
    const isSame = session.revision.incarnation === incarnation;
    if (isSame && session.version === version) return;
    if (!isSame || session.version < version) this.position = NO_POSITION; // created again, or set back
    this.isBlind = true;
    this.moveTo(session);
  }

  /** Waits for the beginning of a series: entries may be missing. */
  miss(): void {
    this.isBlind = true;
  }

  /** Uses an entry, or drops it. */
  receive(entry: ChannelEntry): Receipt {
    const { incarnation, version } = this.base.revision;
    if (entry.incarnation !== incarnation || entry.base > version) return 'load';
    const order = entry.epoch - this.position.epoch || entry.series - this.position.series;
    const isLaterSave = entry.change.type === 'saved' && entry.change.version > version;
    if (order < 0) return isLaterSave ? 'load' : 'done';
    if (order > 0) this.begin(entry);
    if (entry.base < version) return isLaterSave ? 'load' : 'done';
    if (entry.n === 0 && (this.isBlind || this.position.next === 0)) this.restart();
    if (entry.n < this.position.next) return 'done';
    if (entry.n === this.position.next && !this.isBlind) this.use(entry);
    else this.isBlind = true;
    if (this.isBlind) return isLaterSave ? 'load' : 'missed';
    return 'done';
  }

  /** Moves to another series. Work of another worker after the last save is void. */
  private begin({ epoch, series }: ChannelEntry): void {
    if (epoch !== this.position.epoch) this.moveTo(this.base);
    this.position = { epoch, series, next: 0 };
  }

  private restart(): void {
    this.position = { ...this.position, next: 0 };
    this.isBlind = false;
    this.moveTo(this.base);
  }

  private use(entry: ChannelEntry): void {
    this.position = { ...this.position, next: entry.n + 1 };
    this.current = undefined;
    try {
      this.fold(entry);
    } catch {
      this.isBlind = true; // the entry is damaged, or a newer release wrote it
    }
  }

  private fold({ change, incarnation }: ChannelEntry): void {
    switch (change.type) {
      case 'state':
        this.patched = this.patched.with(change.patch);
        return;
      case 'delta':
        this.partial = withDelta(this.partial, change, change.delta);
        return;
      case 'saved': {
        const { version, at } = change;
        const status = SESSION_STATUSES.find((known) => known === change.status);
        if (status === undefined) throw new TypeError('An unknown status.');
        const saved = this.base.withState(this.patched.state).withStatus(status);
        this.base = saved.withRevision({ incarnation, version }, at);
        this.partial = undefined; // the next series repeats it
      }
    }
  }

  private moveTo(session: AgentSession): void {
    this.base = session;
    this.patched = new PatchedState(session.state);
    this.partial = undefined;
    this.current = undefined;
  }

  private createView(): SessionView {
    const { base, partial, patched } = this;
    const isShown = isSameResponse(partial, expectedResponse(patched.state));
    return Object.freeze({
      session: base.withState(patched.state),
      partial: isShown ? partial : undefined,
      isSaved: patched.state === base.state && !isShown,
    });
  }
}
