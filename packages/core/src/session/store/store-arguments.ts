import type { ArgumentCheck } from '../../arguments.ts';
import { mustBe } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { SessionExpiry } from '../session-store.ts';

/** @throws RangeError `ARGUMENT_INVALID` for what is neither a moment nor a number of seconds. */
export function checkedExpiry(expiry: SessionExpiry | undefined): SessionExpiry | undefined {
  if (expiry === undefined) return undefined;
  if (typeof expiry === 'object' && expiry !== null) {
    if ('at' in expiry && Number.isSafeInteger(expiry.at)) return Object.freeze({ at: expiry.at });
    if ('afterSeconds' in expiry && mustBe.seconds.accepts(expiry.afterSeconds))
      return Object.freeze({ afterSeconds: expiry.afterSeconds });
  }
  throw invalidArgument(
    `An expiry is { at: instant } or { afterSeconds: number above 0 }, found ${describeValue(expiry)}.`,
  );
}

/** The worker id of a claim, or the id of an inbox item. */
export const NAME: ArgumentCheck = mustBe.text(1_000);

/** A count that is not 0. */
export const COUNT: ArgumentCheck = mustBe.wholeNumber(1);

/** The position of an inbox item, or -1 for the place before the first. */
export const POSITION: ArgumentCheck = mustBe.wholeNumber(-1);
