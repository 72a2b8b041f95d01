import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { StoreUnavailableError, systemClock } from '@holdfast/core';
import { StoreThrottledError } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';

/** The part of a `DynamoDBClient` that the store works with. */
export type DynamoDbSender = Pick<DynamoDBClient, 'send'>;

/** Where a request goes, and the time that passes while it is repeated. */
export interface RequestContext {
  readonly table: string;
  readonly clock: Clock;
  readonly outcome?: Outcome | undefined;
}

/** What became of a request over all attempts at it, its own and those of the client. */
export interface Outcome {
  /** An attempt ended without an answer: it may have been carried out. */
  isDoubtful: boolean;
}

const ATTEMPTS = 6;
const FIRST_DELAY_MILLISECONDS = 50;
const MAX_DELAY_MILLISECONDS = 5_000;

const THROTTLINGS: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/** Waits a random time, at most twice as long as before: those who were refused together do not come back together. */
export async function backOff(attempt: number, clock: Clock = systemClock): Promise<void> {
  const most = Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** attempt);
  const delay = Math.random() * most;
  await new Promise<void>((resolve) => {
    if (clock.after) clock.after(delay, resolve);
    else setTimeout(resolve, delay);
  });
}

/** Repeats what is throttled for a while. @throws StoreThrottledError, StoreUnavailableError, or a condition's failure. */
export async function attempted<T>(run: () => Promise<T>, context: RequestContext): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (isConditionFailure(error)) throw error;
      if (!isThrottling(error) || attempt + 1 >= ATTEMPTS) throw translated(error, context);
    }
    await backOff(attempt, context.clock);
  }
}

/** @throws StoreThrottledError when there is no attempt left after this one. */
export function refuseTooMany(attempt: number, table: string): void {
  if (attempt + 1 < ATTEMPTS) return;
  const where = `the table ${JSON.stringify(table)}`;
  throw new StoreThrottledError(`DynamoDB left items of ${where} unprocessed ${ATTEMPTS} times.`);
}

/** Did what the write was conditional on not hold? */
export function isConditionFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

function isThrottling(error: unknown): boolean {
  return error instanceof Error && THROTTLINGS.has(error.name);
}

interface Watchable {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: never) => Promise<unknown>) => (args: never) => Promise<unknown>,
      options: { step: 'finalizeRequest'; priority: 'low'; name: string },
    ): void;
  };
}

/** Watches each attempt that the client makes at a command: what it reports in the end is only the last. */
export function watched(command: object): Outcome {
  const outcome: Outcome = { isDoubtful: false };
  (command as Watchable).middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!isRefusal(error)) outcome.isDoubtful = true;
        throw error;
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'holdfastOutcome' },
  );
  return outcome;
}

const UNSENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/** Is it certain that the request was not carried out? */
function isRefusal(error: unknown): boolean {
  const { $metadata, code } = Object(error) as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const status = $metadata?.httpStatusCode;
  return (status !== undefined && status >= 400 && status < 500) || UNSENT.has(code);
}

function translated(error: unknown, { table, outcome }: RequestContext): Error {
  const where = `the table ${JSON.stringify(table)}`;
  const isAmbiguous = outcome?.isDoubtful ?? false;
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  if (isThrottling(error) && !isAmbiguous) {
    return new StoreThrottledError(`DynamoDB takes no more for ${where} (${name}).`, { cause: error });
  }
  const reason = `DynamoDB did not carry out a request for ${where} (${name}: ${message}).`;
  return new StoreUnavailableError(reason, { isAmbiguous, cause: error });
}
