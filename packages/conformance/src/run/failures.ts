import { AssertionError } from 'node:assert/strict';
import { describeDifferences, isObject, shown } from './differences.ts';

/**
 * Shortens the error of a failed comparison: its message lists the differences instead of two whole values. Other errors
 * are returned unchanged.
 */
export function shortened(error: unknown): unknown {
  if (!(error instanceof AssertionError)) return error;
  const message = shortMessageOf(error);
  return message === undefined ? error : withStackOf(error, message);
}

function shortMessageOf({
  operator,
  expected,
  actual,
  generatedMessage,
}: AssertionError): string | undefined {
  const isComparison = operator === 'deepStrictEqual' || operator === 'strictEqual';
  if (isComparison && generatedMessage) return describeDifferences(expected, actual);
  if (operator !== 'rejects' || !isObject(expected)) return undefined;
  if (!isObject(actual)) return `expected a rejection with ${shown(expected)}, but the call succeeded`;
  const found = Object.fromEntries(Object.keys(expected).map((name) => [name, actual[name]]));
  return `the rejection: ${describeDifferences(expected, found)}`;
}

/** Creates the error of a failed case whose message begins with the place of the failure. */
export function failureAt(place: string, error: unknown): AssertionError {
  const short = shortened(error);
  const message = short instanceof Error ? messageOf(short) : String(short);
  const isLong = message.includes('\n');
  return withStackOf(error, `${place}:${isLong ? `\n${message}`.replaceAll('\n', '\n  ') : ` ${message}`}`);
}

function messageOf(error: Error): string {
  return error instanceof AssertionError ? error.message : String(error);
}

/** The error leads to the line of the case that failed. It holds neither of the compared values, which may be large. */
function withStackOf(error: unknown, message: string): AssertionError {
  const failure = new AssertionError({ message });
  const calls = error instanceof Error ? /\n {4}at [\s\S]*$/u.exec(error.stack ?? '') : null;
  if (calls) failure.stack = `AssertionError: ${message}${calls[0]}`;
  return failure;
}
