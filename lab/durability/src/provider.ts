import { existsSync } from 'node:fs';
import { systemClock, type Clock } from '@holdfast/core';
import { DriverError, type DriverErrorKind } from '@holdfast/core/driver';
import type { Entry, Journal } from './journal.ts';

/**
 * How the provider fails: `rateLimited` passes by itself, `quotaExceeded` needs a retry item, `authentication` needs the
 * action `retry()`, and `overloaded` switches to the fallback model.
 */
export const OUTAGES = [
  'rateLimited',
  'quotaExceeded',
  'authentication',
  'overloaded',
] as const satisfies readonly DriverErrorKind[];

export type Outage = (typeof OUTAGES)[number];

export const OWN_MODEL = 'own';
export const FALLBACK_MODEL = 'spare';

/** In dollars for a million tokens. */
export const PRICES = { [OWN_MODEL]: { input: 8, output: 64 }, [FALLBACK_MODEL]: { input: 1, output: 2 } };

/** The provider refuses the calls of this step, and accepts those of all others. */
const REFUSED_STEP = 2;
const REFUSALS = 2;

/** A call of a model. */
type Call = Required<Pick<Entry, 'sessionId' | 'epoch' | 'step' | 'model'>>;

/** The outage of the provider for all sessions. */
const OUTAGE_OF_ALL = 'rateLimited';

/** The provider of all processes: it knows from the journal which calls it has refused. */
export class Provider {
  private readonly journal: Journal;
  private readonly outageFile: string | undefined;

  /** @param outageFile a file: while it exists, the provider refuses all calls. Default: no call is refused for it. */
  constructor(journal: Journal, outageFile?: string) {
    this.journal = journal;
    this.outageFile = outageFile;
  }

  /** Accepts a call of a session with an outage or without one, and records it. @throws DriverError when the provider is down. */
  respond(outage: Outage | undefined, call: Call): void {
    // The clock of an overloaded session jumps: an instant to wait for would be hours away.
    if (outage !== 'overloaded' && this.outageFile !== undefined && existsSync(this.outageFile)) {
      this.journal.write({ type: 'refused', ...call, outage: OUTAGE_OF_ALL });
      throw new DriverError(OUTAGE_OF_ALL, 'The provider is down for all.');
    }
    if (outage === undefined) return;
    const isRefused = call.step === REFUSED_STEP && this.isDown(outage, call);
    this.journal.write({ type: isRefused ? 'refused' : 'responded', ...call, outage });
    if (isRefused) throw new DriverError(outage, 'The provider is down.');
  }

  /** The own model is overloaded until the fallback has responded; any other outage ends after some calls. */
  private isDown(outage: Outage, { sessionId, model }: Call): boolean {
    const before = this.journal.read().filter((entry) => entry.sessionId === sessionId);
    if (outage !== 'overloaded') return before.filter(({ type }) => type === 'refused').length < REFUSALS;
    const isFallback = (entry: Pick<Entry, 'model'>): boolean => entry.model === FALLBACK_MODEL;
    return !isFallback({ model }) && !before.some((entry) => entry.type === 'responded' && isFallback(entry));
  }
}

const HOUR = 3_600_000;

/** A clock that an effect of the session advances by an hour, so that a fallback ends between two steps. */
export function jumpingClock(sessionId: string, journal: Journal): Clock {
  const isEffect = ({ type, sessionId: id }: Entry): boolean => type === 'done' && id === sessionId;
  return { ...systemClock, now: () => Date.now() + HOUR * journal.read().filter(isEffect).length };
}
