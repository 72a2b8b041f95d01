import type { AgentSession } from '@holdfast/core';
import type { KnownSession } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

/** How the stored session and the base of a reader differ. */
interface Difference {
  readonly found: AgentSession;
  readonly base: AgentSession;
  /** Whether both are one incarnation of one session. */
  readonly isSame: boolean;
  /** The number of messages that the stored session has more. */
  readonly more: number;
  /** Whether both have the same message at an index of the base. */
  readonly isShared: (index: number) => boolean;
  /** Whether the stored session begins with the messages of the base. */
  readonly isGrown: boolean;
  readonly isSameExecution: boolean;
  /** Whether this store has returned the base. */
  readonly isOwn: boolean;
}

function differenceOf(found: AgentSession, base: AgentSession, isOwn: boolean): Difference {
  const [messages, known] = [found.state.messages, base.state.messages];
  const isShared = (index: number): boolean =>
    JSON.stringify(messages.at(index)) === JSON.stringify(known.at(index));
  return {
    found,
    base,
    isSame: found.sessionId === base.sessionId && found.revision.incarnation === base.revision.incarnation,
    more: messages.length - known.length,
    isShared,
    isGrown: known.toArray().every((_, index) => isShared(index)),
    isSameExecution: found.state.executionId === base.state.executionId,
    isOwn,
  };
}

/** A store that returns the state of the base in place of the stored one when it does not see a difference. */
function taking(isUnseen: (difference: Difference) => boolean): StoreParts {
  return {
    store(store) {
      const own = new WeakSet<AgentSession>();
      const noted = <T extends AgentSession | undefined>(session: T): T => {
        if (session) own.add(session);
        return session;
      };
      const read = <T extends AgentSession | undefined>(found: T, base: AgentSession | undefined): T => {
        noted(found);
        if (!found || !base?.state.messages.length || found === base) return found;
        const difference = differenceOf(found, base, own.has(base));
        return isUnseen(difference) ? (found.withState(base.state) as T) : found;
      };
      return {
        create: async (session, options) => noted(await store.create(session, options)),
        save: async (session, options) => noted(await store.save(session, options)),
        load: async (sessionId, options) => read(await store.load(sessionId, options), options?.base),
        async claim(sessionId, options) {
          const claimed = await store.claim(sessionId, options);
          return { ...claimed, session: read(claimed.session, options.base) };
        },
      };
    },
  };
}

/** A store that tells its backend only some of the lists that a reader knows. */
const telling = (isTold: (list: string) => boolean): StoreParts => ({
  client: (backend) => ({
    readSession: (sessionId, { known, ...request }) =>
      backend.readSession(sessionId, { ...request, known: known && withLists(known, isTold) }),
  }),
});

function withLists(known: KnownSession, isTold: (list: string) => boolean): KnownSession {
  return { ...known, lists: new Map([...known.lists].filter(([name]) => isTold(name))) };
}

/** Defects in what a read takes from its base. */
export const extending: Readonly<Record<string, StoreParts>> = {
  'forgets what was added since the base': taking(
    ({ isSame, isGrown, more, isSameExecution }) => isSame && isGrown && more > 0 && isSameExecution,
  ),
  'keeps messages of the base that were dropped': taking(
    ({ isSame, more, found, base }) => isSame && more < 0 && found.version > base.version,
  ),
  'compares the lengths of lists': taking(
    ({ isSame, more, isGrown, found, base }) =>
      isSame && more === 0 && !isGrown && found.version > base.version,
  ),
  'compares the lengths of lists in the same version': taking(
    ({ isSame, more, isGrown, found, base }) =>
      isSame && more === 0 && !isGrown && found.version === base.version,
  ),
  'compares the last message that a base has': taking(
    ({ isSame, more, isShared, isGrown, base }) =>
      isSame && more > 0 && !isGrown && isShared(base.state.messages.length - 1),
  ),
  'compares the first message that a base has': taking(
    ({ isSame, isOwn, more, isShared, isGrown }) => isSame && isOwn && more > 0 && isShared(0) && !isGrown,
  ),
  'returns a base that is ahead of the storage': taking(
    ({ isSame, found, base }) => isSame && found.version < base.version,
  ),
  'takes a base of the execution before': taking(
    ({ isSame, isGrown, isSameExecution }) => isSame && isGrown && !isSameExecution,
  ),
  'takes a base of the incarnation before': taking(
    ({ isSame, found, base, more, isOwn }) =>
      !isSame && isOwn && more > 0 && found.sessionId === base.sessionId && found.owner === base.owner,
  ),
  'takes a fork as base': taking(({ found, base }) => base.forkedFrom === found.sessionId),
  'takes a base of another store': taking(
    ({ found, base, isOwn }) => !isOwn && found.sessionId === base.sessionId,
  ),
  'does not compare the owner of a session with a base': {
    store: (store) => ({
      load: (sessionId, options) => store.load(sessionId, options?.base ? { base: options.base } : options),
    }),
  },
  'reads all messages for an outdated base': telling((list) => !list.startsWith('messages:')),
  'reads all steps for an outdated base': telling((list) => list !== 'steps'),
};
