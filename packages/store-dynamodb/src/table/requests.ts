import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { hasErrorCode, StoreUnavailableError, systemClock, type Clock } from '@holdfast/core';
import { backoff, StoreThrottledError } from '@holdfast/core/store';

/** The part of a `DynamoDBClient` that the store uses. */
export type DynamoDbSender = Pick<DynamoDBClient, 'send'>;

export interface RequestContext {
  readonly table: string;
  /** Measures the pauses between attempts. */
  readonly clock: Clock;
  readonly ambiguity?: Ambiguity | undefined;
}

/** Whether a request may have been executed, over all attempts of the store and of the client. */
export interface Ambiguity {
  /** Whether an attempt failed without a reply. */
  isAmbiguous: boolean;
}

const ATTEMPTS = 6;
const DELAYS_MS = { first: 50, longest: 5_000 };

const THROTTLING_ERRORS: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/**
 * Waits for a random time. Its maximum doubles with each attempt, so that throttled writers do not retry at the same
 * time.
 */
export async function backOff(attempt: number, clock: Clock = systemClock): Promise<void> {
  const delay = Math.random() * backoff(DELAYS_MS, attempt + 1);
  await new Promise<void>((resolve) => {
    if (clock.after) clock.after(delay, resolve);
    else setTimeout(resolve, delay);
  });
}

/**
 * Sends a request, and retries it while DynamoDB throttles it. Throws the error of DynamoDB when a condition did not
 * hold.
 * @throws StoreThrottledError `STORE_THROTTLED` when the last attempt was throttled
 * @throws StoreUnavailableError `STORE_UNAVAILABLE` when the request failed otherwise
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

/**
 * Checks that another attempt remains, after an attempt that left items unprocessed.
 * @throws StoreThrottledError `STORE_THROTTLED` when it was the last attempt
 */
export function checkAttempts(attempt: number, table: string): void {
  if (attempt + 1 < ATTEMPTS) return;
  const where = `the table ${JSON.stringify(table)}`;
  throw new StoreThrottledError(
    `DynamoDB throttles requests for ${where}: it left items unprocessed in ${ATTEMPTS} attempts.`,
  );
}

/** Returns whether DynamoDB refused a write because its condition did not hold. */
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

/** Observes each attempt of the client at a command, because the client throws only the error of its last attempt. */
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

/** Returns whether the server certainly did not execute the request. */
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
    return new StoreThrottledError(`DynamoDB throttles requests for ${where} (${name}).`, { cause: error });
  }
  const reason = `DynamoDB failed to execute a request for ${where} (${name}: ${message}).`;
  return new StoreUnavailableError(reason, { isAmbiguous, cause: error });
}

/**
 * Runs the cleanup after a write. Ignores an outage, because the write was done and `prune` removes the remaining
 * items.
 */
export async function ignoreOutage(cleanUp: () => Promise<unknown>): Promise<void> {
  await cleanUp().catch((error: unknown) => {
    if (!hasErrorCode(error, 'STORE_UNAVAILABLE') && !hasErrorCode(error, 'STORE_THROTTLED')) throw error;
  });
}
