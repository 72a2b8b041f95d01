import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { DriverError, type DriverErrorKind } from '@holdfast/core/driver';
import { both, hasAbility, heard, type DriverContext, type UngroupedDriverCase } from './driver-case.ts';
import {
  answer,
  assertKind,
  failed,
  inferred,
  membersOf,
  pauseLimit,
  requestOf,
  type Failed,
} from './driver-calls.ts';
import { REFUSALS, type ProviderReply, type Refusal } from './provider.ts';

const KINDS: Readonly<Record<Refusal, DriverErrorKind>> = {
  authentication: 'authentication',
  quotaExceeded: 'quotaExceeded',
  modelNotFound: 'modelNotFound',
  invalidRequest: 'invalidRequest',
  contextTooLong: 'contextTooLong',
  contentFiltered: 'contentFiltered',
  rateLimited: 'rateLimited',
  serverError: 'overloaded',
  unavailable: 'overloaded',
  overloaded: 'overloaded',
};

/** More attempts than this belong to the loop, which can suspend the session between them. */
const MOST_ATTEMPTS = 6;

/** Calls a driver whose provider gives the same reply again and again. Returns the error and the number of attempts. */
async function failedOf(
  context: DriverContext,
  reply: ProviderReply,
  signal?: AbortSignal,
): Promise<Failed & { readonly attempts: number }> {
  const subject = await context.create(Array.from({ length: 4 * MOST_ATTEMPTS }, () => reply));
  const found = await failed(subject, context, signal);
  return { ...found, attempts: subject.requests().length };
}

function refusalCases(refusal: Refusal): readonly UngroupedDriverCase[] {
  const kind = KINDS[refusal];
  const { isRetryable, code } = new DriverError(kind, 'Expected.');
  return both(`the refusal ${refusal} throws ${code}`, [refusal], async (context) => {
    const { error, attempts, deltas } = await failedOf(context, { type: 'refusal', refusal });
    assertKind(error, kind);
    assert(error instanceof Error);
    assert.equal(membersOf(error)['isRetryable'], isRetryable);
    assert.equal(membersOf(error)['partialResponse'], undefined);
    assert.deepEqual(deltas, []);
    if (!isRetryable) assert.equal(attempts, 1, 'A driver must not repeat a call that would fail again.');
    assert(
      attempts <= MOST_ATTEMPTS,
      `The driver called ${attempts} times. Long retries belong to the loop.`,
    );
  });
}

/** Returns all texts of an error that a log or a person could see. */
function textsOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 8) return inspect(error, { depth: 8, showHidden: true });
  const { cause } = error;
  const own = [
    error.message,
    error.stack,
    JSON.stringify(error),
    inspect(error, { depth: 8, showHidden: true }),
  ];
  return [...own, ...(cause === undefined ? [] : [textsOf(cause, depth + 1)])].join('\n');
}

const retries: readonly UngroupedDriverCase[] = [
  ...both('the pause that a provider requests is passed on', ['rateLimited'], async (context) => {
    const reply = { type: 'refusal', refusal: 'rateLimited', retryAfterSeconds: 1_800 } as const;
    const { error } = await failedOf(context, reply, pauseLimit(context));
    assertKind(error, 'rateLimited');
    assert.equal(membersOf(error)['retryAfterSeconds'], 1_800);
  }),
  heard(
    'a call that fails for a moment fails for the loop, or succeeds',
    ['unavailable'],
    async (context) => {
      const refusal = { type: 'refusal', refusal: 'unavailable' } as const;
      const { driver, requests } = await context.create([refusal, answer({ text: 'Here.' })]);
      const call = inferred(driver, requestOf('hello'), context);
      const [result] = await Promise.allSettled([call]);
      if (result?.status === 'rejected') assertKind(result.reason, 'overloaded');
      else assert.equal(result?.value.response.text, 'Here.');
      assert.equal(requests().length, result?.status === 'rejected' ? 1 : 2);
    },
  ),
];

const others: readonly UngroupedDriverCase[] = [
  ...both('a connection that is cut before the response throws DRIVER_NETWORK', ['cut'], async (context) => {
    const { error, attempts } = await failedOf(context, { type: 'interruption', interruption: 'cut' });
    assertKind(error, 'network');
    assert.equal(membersOf(error)['isRetryable'], true);
    assert(attempts <= MOST_ATTEMPTS, `The driver called ${attempts} times.`);
  }),
  ...both('a reply outside of the protocol is an error of the driver', ['noise'], async (context) => {
    const { error } = await failedOf(context, { type: 'noise' });
    assert.match(String(membersOf(error)['code']), /^DRIVER_/);
  }),
  ...both('no error contains a key or a header', ['secrets'], async (context) => {
    const { secrets = [] } = context.abilities;
    for (const refusal of REFUSALS) {
      if (!hasAbility(context.abilities, refusal)) continue;
      const { error } = await failedOf(context, { type: 'refusal', refusal });
      const text = textsOf(error);
      for (const secret of secrets)
        assert(!text.includes(secret), `The error of the refusal ${refusal} contains a secret.`);
    }
  }),
];

/** Requirements on the errors of calls without a response. */
export const errorCases: readonly UngroupedDriverCase[] = [
  ...REFUSALS.flatMap(refusalCases),
  ...retries,
  ...others,
];
