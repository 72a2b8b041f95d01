import { checkArgument, mustBe } from '../../../arguments.ts';
import { readClock, type Clock, type Instant } from '../../../clock.ts';
import type { SessionBackend } from './session-backend.ts';
import { StoreClosedError } from '../../session-errors.ts';

const BACKEND = mustBe.objectWith('an object with the methods of a SessionBackend', [
  'readRecord',
  'readSession',
  'readInbox',
  'readPosition',
  'readArchive',
  'compareAndSet',
  'list',
  'due',
  'announce',
  'workers',
  'prune',
  'close',
]);

/** A backend until it is closed, and the clock of the store. */
export class OpenBackend {
  private readonly opened: SessionBackend;
  private readonly clock: Clock;
  private closing: Promise<void> | undefined;

  /** @throws TypeError `ARGUMENT_INVALID` for a backend that lacks a method. */
  constructor(backend: SessionBackend, clock: Clock) {
    checkArgument('The backend of a store', backend, BACKEND);
    this.opened = backend;
    this.clock = clock;
  }

  get capabilities(): SessionBackend['capabilities'] {
    return this.opened.capabilities;
  }

  /** @throws StoreUnavailableError once it is closed. */
  get backend(): SessionBackend {
    if (this.closing === undefined) return this.opened;
    throw new StoreClosedError();
  }

  /** @throws StoreUnavailableError once it is closed; TypeError `ARGUMENT_INVALID` for a clock that gives no instant. */
  now(): Instant | Promise<Instant> {
    return this.backend.now?.() ?? readClock(this.clock);
  }

  /** Closes the backend once. Every call returns the same promise. */
  close(): Promise<void> {
    this.closing ??= this.opened.close();
    return this.closing;
  }
}
