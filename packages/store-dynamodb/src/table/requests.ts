import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { hasErrorCode, StoreUnavailableError, systemClock } from '@holdfast/core';
import { StoreThrottledError } from '@holdfast/core/store';
import type { Clock } from '@holdfast/core';

/** The part of a `DynamoDBClient` that the store uses. */
export type DynamoDbSender = Pick<DynamoDBClient, 'send'>;

export interface RequestContext {
  readonly table: string;
  /** Measures the pauses between attempts. */
  readonly clock: Clock;
  readonly ambiguity?: Ambiguity | undefined;
}

/** Whether a request may have been done, over all attempts of the store and of the client. */
export interface Ambiguity {
  /** An attempt ended without a reply. */
  isAmbiguous: boolean;
}

const ATTEMPTS = 6;
const FIRST_DELAY_MILLISECONDS = 50;
const MAX_DELAY_MILLISECONDS = 5_000;

const THROTTLING_ERRORS: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/** Waits for a random time, whose maximum doubles with each attempt: so throttled writers do not retry together. */
export async function backOff(attempt: number, clock: Clock = systemClock): Promise<void> {
  const longest = Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** attempt);
  const delay = Math.random() * longest;
  await new Promise<void>((resolve) => {
    if (clock.after) clock.after(delay, resolve);
    else setTimeout(resolve, delay);
  });
}

/**
 * Sends a request, and retries while it is throttled. @throws StoreThrottledError, StoreUnavailableError, or the error
 * of a condition
 */
export async function retryThrottled<T>(send: () => Promise<T>, context: RequestContext): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (isConditionFailure(error)) throw error;
      if (!isThrottling(error) || attempt + 1 >= ATTEMPTS) throw storeError(error, context);
    }
    await backOff(attempt, context.clock);
  }
}

/** @throws StoreThrottledError when this attempt, which left items unprocessed, was the last one. */
export function checkAttempts(attempt: number, table: string): void {
  if (attempt + 1 < ATTEMPTS) return;
  const where = `the table ${JSON.stringify(table)}`;
  throw new StoreThrottledError(`DynamoDB left items of ${where} unprocessed ${ATTEMPTS} times.`);
}

/** Whether a write was refused because its condition did not hold. */
export function isConditionFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

function isThrottling(error: unknown): boolean {
  return error instanceof Error && THROTTLING_ERRORS.has(error.name);
}

interface Watchable {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: never) => Promise<unknown>) => (args: never) => Promise<unknown>,
      options: { step: 'finalizeRequest'; priority: 'low'; name: string },
    ): void;
  };
}

/** Watches each attempt of the client at a command. The error of the client is that of its last attempt only. */
export function watchAttempts(command: object): Ambiguity {
  const ambiguity: Ambiguity = { isAmbiguous: false };
  (command as Watchable).middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        if (!isRefusal(error)) ambiguity.isAmbiguous = true;
        throw error;
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'holdfastAmbiguity' },
  );
  return ambiguity;
}

const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

/** Whether the server has certainly not executed the request. */
function isRefusal(error: unknown): boolean {
  const { $metadata, code } = Object(error) as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const status = $metadata?.httpStatusCode;
  return (status !== undefined && status >= 400 && status < 500) || NOT_SENT.has(code);
}

function storeError(error: unknown, { table, ambiguity }: RequestContext): Error {
  const where = `the table ${JSON.stringify(table)}`;
  const isAmbiguous = ambiguity?.isAmbiguous ?? false;
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  if (isThrottling(error) && !isAmbiguous) {
    return new StoreThrottledError(`DynamoDB takes no more for ${where} (${name}).`, { cause: error });
  }
  const reason = `DynamoDB did not carry out a request for ${where} (${name}: ${message}).`;
  return new StoreUnavailableError(reason, { isAmbiguous, cause: error });
}

/** Cleans up after a write, and ignores an outage: the write was done, and `prune` removes what remains. */
export async function ignoreOutage(cleanUp: () => Promise<unknown>): Promise<void> {
  await cleanUp().catch((error: unknown) => {
    if (!hasErrorCode(error, 'STORE_UNAVAILABLE') && !hasErrorCode(error, 'STORE_THROTTLED')) throw error;
  });
}
