import { describeValue, invalidArgument } from '../../errors.ts';
import type { SessionExpiry } from '../session-store.ts';

/** @throws RangeError `ARGUMENT_INVALID` for what is neither a moment nor a number of seconds. */
export function checkedExpiry(expiry: SessionExpiry | undefined): SessionExpiry | undefined {
  if (expiry === undefined) return undefined;
  if (typeof expiry === 'object' && expiry !== null) {
    if ('at' in expiry && Number.isSafeInteger(expiry.at)) return Object.freeze({ at: expiry.at });
    if ('afterSeconds' in expiry && isDuration(expiry.afterSeconds))
      return Object.freeze({ afterSeconds: expiry.afterSeconds });
  }
  throw invalidArgument(
    `An expiry is { at: instant } or { afterSeconds: number above 0 }, found ${describeValue(expiry)}.`,
  );
}

/** @throws RangeError `ARGUMENT_INVALID` */
export function checkedSeconds(name: string, seconds: number): number {
  if (isDuration(seconds)) return seconds;
  throw invalidArgument(`${name} must be a number of seconds above 0, found ${describeValue(seconds)}.`);
}

/** @throws RangeError `ARGUMENT_INVALID` */
export function checkedOwner(owner: string): string {
  return checkedText('The owner of a claim', owner);
}

/** @throws RangeError `ARGUMENT_INVALID` */
export function checkedItemId(id: string): string {
  return checkedText('The id of an inbox item', id);
}

/** The position of an inbox item, or -1 for the place before the first. @throws RangeError `ARGUMENT_INVALID` */
export function checkedPosition(name: string, position: number): void {
  if (Number.isSafeInteger(position) && position >= -1) return;
  throw invalidArgument(`${name} must be a whole number from -1 on, found ${describeValue(position)}.`);
}

/** @throws RangeError `ARGUMENT_INVALID` */
export function checkedCount(name: string, count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw invalidArgument(`${name} must be a whole number above 0, found ${describeValue(count)}.`);
}

const MAX_TEXT_LENGTH = 1_000;
/** A hundred years: what is longer is a mistake, and beyond what a date can hold. */
const MAX_SECONDS = 3_155_760_000;

function isDuration(seconds: unknown): boolean {
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS;
}

function checkedText(what: string, text: string): string {
  if (typeof text === 'string' && text.length > 0 && text.length <= MAX_TEXT_LENGTH && text.isWellFormed())
    return text;
  throw invalidArgument(
    `${what} must be a text of 1 to ${MAX_TEXT_LENGTH} characters, found ${describeValue(text)}.`,
  );
}
