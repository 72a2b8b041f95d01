import type { UIMessage } from 'ai';

/** A function of the message that a reader was shown and the one that it should see. */
type BetweenMessages<Result> = (shown: UIMessage | undefined, wanted: UIMessage) => Result;

const NOTHING = Object.freeze({});

/**
 * Returns a function that computes each result once, as long as its messages live. All readers of a response have the same
 * messages, so they share one text, however many wait for a slow connection.
 */
export function sharedResult<Result>(compute: BetweenMessages<Result>): BetweenMessages<Result> {
  const known = new WeakMap<UIMessage, WeakMap<object, { readonly result: Result }>>();
  return (shown, wanted) => {
    const results = known.get(wanted) ?? new WeakMap<object, { readonly result: Result }>();
    known.set(wanted, results);
    const entry = results.get(shown ?? NOTHING) ?? { result: compute(shown, wanted) };
    results.set(shown ?? NOTHING, entry);
    return entry.result;
  };
}
