import { isObject } from '../../json/is-same-value.ts';
import { ChatRequestError } from './chat-error.ts';

/** The most levels of objects and arrays within one another. */
const DEEPEST = 100;

/**
 * Checks the size of a JSON value, and looks at no more than `limit` values of it.
 * @throws ChatRequestError `CHAT_BODY_TOO_LARGE`.
 */
export function requireSmall(value: unknown, limit: number): void {
  let level: unknown[] = [value];
  let count = 1;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw tooLarge(`is more than ${DEEPEST} levels deep`);
    const next: unknown[] = [];
    for (const each of level) {
      if (!isObject(each)) continue;
      for (const name in each) {
        if (++count > limit) throw tooLarge(`has more than ${limit} values`);
        next.push(each[name]);
      }
    }
    level = next;
  }
}

function tooLarge(problem: string): ChatRequestError {
  return new ChatRequestError(
    'CHAT_BODY_TOO_LARGE',
    `The content of the message ${problem}. Send less at once.`,
  );
}
