import {
  checkArgument,
  mustBe,
  optionsCheck,
  type ArgumentCheck,
  type OptionChecks,
} from '../../../arguments.ts';
import { describeValue, invalidArgument } from '../../../errors.ts';
import { AgentSession } from '../../session.ts';
import { SessionId } from '../../../state/values/ids.ts';
import { OWNER } from '../../title-labels-owner.ts';
import { PAGE_LIMIT } from './session-query.ts';
import type { CreateOptions, DeleteOptions, SaveOptions, SessionExpiry } from '../../session-store.ts';
import type {
  ClaimOptions,
  EnqueueOptions,
  InboxItem,
  InboxItemRef,
  LoadOptions,
  OwnerOptions,
  ReleaseOptions,
  RenewOptions,
  SessionClaim,
} from '../../session-claim.ts';
import type { AnnouncedWorker, DueSession } from '../../session-directory.ts';
import type { ExecutionQuery, PageQuery, RevisionQuery } from '../../session-pages.ts';
import type { FailedWork } from '../../work-failure.ts';

/** The worker id of a claim, or the id of an inbox item. */
const NAME: ArgumentCheck = mustBe.text(1_000);

export const COUNT: ArgumentCheck = mustBe.wholeNumber(1);

/** The position of an inbox item, or -1 for the position before the first. */
const POSITION: ArgumentCheck = mustBe.wholeNumber(-1);

const EXPIRY_MEMBERS: ReadonlyMap<string, ArgumentCheck> = new Map([
  ['at', mustBe.instant],
  ['afterSeconds', mustBe.seconds],
]);

/** True for an object with exactly one of the members. */
function isExpiry(value: unknown): boolean {
  if (!isObject(value)) return false;
  const [name = '', ...others] = Object.keys(value);
  return others.length === 0 && EXPIRY_MEMBERS.get(name)?.accepts(value[name]) === true;
}

/** Returns a frozen copy of an expiry. @throws RangeError `ARGUMENT_INVALID` for an invalid expiry. */
export function checkedExpiry(expiry: SessionExpiry | undefined): SessionExpiry | undefined {
  if (expiry === undefined) return undefined;
  if (isExpiry(expiry)) return Object.freeze({ ...expiry });
  const found = isObject(expiry)
    ? `an object with ${Object.keys(expiry).join(', ') || 'no members'}`
    : describeValue(expiry);
  throw invalidArgument(`An expiry is { at: instant } or { afterSeconds: number above 0 }, found ${found}.`);
}

const SESSION: ArgumentCheck = {
  expected: 'an AgentSession, as create, load and claim of a store return it',
  accepts: (value) => value instanceof AgentSession,
};

const REVISION: ArgumentCheck = {
  expected: 'the revision of a session, as in revision: session.revision',
  accepts: (value) =>
    isObject(value) && typeof value['incarnation'] === 'string' && Number.isSafeInteger(value['version']),
};

const ACKNOWLEDGED: ArgumentCheck = mustBe.listOf(
  'inbox items as a claim returns them: each with an id of 1 to 1,000 characters and a position from 0',
  (item) => isObject(item) && NAME.accepts(item['id']) && isPosition(item['position']),
);

const CLAIM: ArgumentCheck = {
  expected: 'the claim of a session, as in const { claim } = await store.claim(sessionId, options)',
  accepts: (value) =>
    isObject(value) &&
    ['sessionId', 'incarnation', 'workerId'].every((name) => typeof value[name] === 'string') &&
    Number.isSafeInteger(value['epoch']) &&
    (value['owner'] === undefined || OWNER.accepts(value['owner'])),
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return mustBe.object.accepts(value);
}

function isPosition(value: unknown): value is number {
  return POSITION.accepts(value) && value !== -1;
}

/** Accepts any string: an invalid id behaves as if the session did not exist. @throws TypeError `ARGUMENT_INVALID` */
export function checkSessionId(sessionId: unknown): void {
  if (typeof sessionId === 'string') return;
  const advice = sessionId instanceof AgentSession ? ': pass session.sessionId' : '';
  const found = sessionId instanceof AgentSession ? 'a session' : describeValue(sessionId);
  throw invalidArgument(`A session id must be a string, found ${found}${advice}.`, TypeError);
}

/** @throws TypeError `ARGUMENT_INVALID` */
export function checkSession(session: unknown): void {
  checkArgument('A session', session, SESSION);
}

/** @throws TypeError `ARGUMENT_INVALID` */
export function checkClaim(claim: SessionClaim): SessionClaim {
  return checkArgument('A claim', claim, CLAIM);
}

const EXPIRY = 'pass an expiry, as in expiry: { afterSeconds: 3600 }';
const LEASE = 'pass seconds, as in leaseSeconds: 30';

const BASE: OptionChecks<LoadOptions> = { base: SESSION, owner: OWNER };
const PAGE = { limit: PAGE_LIMIT, cursor: mustBe.string };
export const checkPageQuery = optionsCheck<PageQuery>('executions', PAGE);

/** The checks of the options and arguments of a store, each by what it checks. */
export const check = Object.freeze({
  create: optionsCheck<CreateOptions>(
    'store.create',
    { expiry: mustBe.anything }, // see checkedExpiry
    { ttl: EXPIRY, expiresIn: EXPIRY },
  ),
  load: optionsCheck<LoadOptions>('store.load', BASE),
  owner: optionsCheck<OwnerOptions>('the store', { owner: OWNER }),
  executions: optionsCheck<ExecutionQuery>('store.executions', { ...BASE, ...PAGE }),
  revisions: optionsCheck<RevisionQuery>('store.revisions', { owner: OWNER, ...PAGE }),
  worker: optionsCheck<AnnouncedWorker>('store.announce', {
    workerName: mustBe.required(NAME),
    since: mustBe.required(mustBe.instant),
    sessionIds: mustBe.required(mustBe.listOf('ids of sessions', (value) => SessionId.is(value))),
  }),
  claim: optionsCheck<ClaimOptions>(
    'store.claim',
    {
      workerId: mustBe.required(NAME),
      leaseSeconds: mustBe.required(mustBe.seconds),
      ...BASE,
      ifSuspect: mustBe.oneOf(['accept', 'alone', 'refuse']),
    },
    { ttl: LEASE, lease: LEASE, worker: 'use "workerId"' },
  ),
  /** Accepts the options of a claim too, so a caller can pass them unchanged to renewals. */
  renew: optionsCheck<RenewOptions & { readonly workerId?: string | undefined }>(
    'store.renew',
    {
      leaseSeconds: mustBe.required(mustBe.seconds),
      ...BASE,
      after: POSITION,
      isShared: mustBe.boolean,
      isSuspect: mustBe.boolean,
      workerId: { ...NAME, isInternal: true },
    },
    { ttl: LEASE, lease: LEASE },
  ),
  release: optionsCheck<ReleaseOptions>('store.release', {
    onlyIfIdle: mustBe.boolean,
    isSuspect: mustBe.boolean,
    ...BASE,
  }),
  delete: optionsCheck<DeleteOptions>(
    'store.delete',
    { revision: REVISION, owner: OWNER },
    { version: 'pass the revision, as in revision: session.revision' },
  ),
  prune: optionsCheck<{ readonly limit?: number | undefined }>('store.prune', {
    limit: COUNT,
  }),
  dueSession: optionsCheck<DueSession>('store.takeDue', {
    sessionId: mustBe.required(mustBe.string),
    dueAt: mustBe.required(mustBe.instant),
  }),
  failedWork: optionsCheck<FailedWork>('store.recordFailure', {
    error: mustBe.required(mustBe.object), // see toErrorRecord
    delaysSeconds: mustBe.required(
      mustBe.listOf('numbers of seconds above 0, as in delaysSeconds: [10, 60]', mustBe.seconds.accepts),
    ),
  }),
  enqueue: optionsCheck<EnqueueOptions>('store.enqueue', {
    owner: OWNER,
    reserve: {
      expected: 'a text of 1 to 200 characters',
      accepts: (value) => typeof value === 'string' && value.length > 0 && value.length <= 200,
      type: 'string',
    },
  }),
  item: optionsCheck<Pick<InboxItem, 'id' | 'content'>>(
    'store.enqueue',
    { id: mustBe.required(NAME), content: mustBe.anything }, // see toJsonValue
    {
      type: 'pass it in the content, as in content: { type: "message", content: "Hello" }',
      position: 'omit it; the store sets it',
      enqueuedAt: 'omit it; the store sets it',
    },
  ),
  save: optionsCheck<SaveOptions>(
    'store.save',
    {
      ...BASE,
      operationId: mustBe.string,
      epoch: mustBe.wholeNumber(0),
      acknowledge: ACKNOWLEDGED,
      checkpoint: mustBe.string,
      expiry: mustBe.anything, // see checkedExpiry
    },
    {
      ttl: EXPIRY,
      expiresIn: EXPIRY,
      claim: 'pass its epoch, as in epoch: claim.epoch',
      id: 'use "operationId"',
      idempotencyKey: 'use "operationId"',
    },
  ),
});

/** Checks an id and options of a call, and returns the owner. @throws RangeError or TypeError `ARGUMENT_INVALID` */
export function ownerOf(sessionId: string, options: OwnerOptions): string | undefined {
  checkSessionId(sessionId);
  return check.owner(options).owner;
}

/** @throws RangeError or TypeError `ARGUMENT_INVALID` */
export function checkedSaveOptions(options: SaveOptions): SaveOptions {
  const { expiry } = check.save(options);
  return { ...options, expiry: expiry === null ? null : checkedExpiry(expiry) };
}

/**
 * Refuses a reference whose id differs from the id of the item at its position.
 * @throws RangeError `ARGUMENT_INVALID`
 */
export function requireSameIds(refs: readonly InboxItemRef[], ids: ReadonlyMap<number, string>): void {
  for (const { id, position } of refs) {
    const actual = ids.get(position) ?? id;
    if (actual !== id)
      throw invalidArgument(
        `The inbox item at position ${position} has the id ${JSON.stringify(actual)}, not ${JSON.stringify(id)}. Acknowledge items as a claim returned them.`,
      );
  }
}
