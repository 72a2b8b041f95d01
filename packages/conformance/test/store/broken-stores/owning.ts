import { AgentSession, hasErrorCode, SessionConflictError, type SessionStore } from '@holdfast/core';
import type { SessionClaim } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

const store = (methods: NonNullable<StoreParts['store']>): StoreParts => ({ store: methods });

type Save = Parameters<SessionStore['save']>;

/** Replaces what a store does with a save that finds no session of its owner. */
const refusing = (refuse: (sound: SessionStore, ...save: Save) => Promise<AgentSession>): StoreParts =>
  store((sound) => ({
    save: (...save) =>
      sound.save(...save).catch(async (error: unknown) => {
        const isOfAnother =
          hasErrorCode(error, 'SESSION_NOT_FOUND') && (await sound.exists(save[0].sessionId));
        if (isOfAnother) return refuse(sound, ...save);
        throw error;
      }),
  }));

/** Returns the claim with the owner of the stored session, whoever asks. */
async function withActualOwner(sound: SessionStore, claim: SessionClaim): Promise<SessionClaim> {
  return { ...claim, owner: (await sound.load(claim.sessionId))?.owner };
}

/** Defects in the comparison of owners: a store that reads, changes or shows the sessions of other owners. */
export const owning: Readonly<Record<string, StoreParts>> = {
  'loads the sessions of other owners': store((sound) => ({
    load: (id, options) => sound.load(id, { ...options, owner: undefined }),
  })),
  'shows that the session of another owner exists': store((sound) => ({ exists: (id) => sound.exists(id) })),
  'deletes the sessions of other owners': store((sound) => ({
    delete: (id, options) => sound.delete(id, { ...options, owner: undefined }),
  })),
  'claims the sessions of other owners': store((sound) => ({
    claim: (id, options) => sound.claim(id, { ...options, owner: undefined }),
  })),
  'enqueues items for the sessions of other owners': store((sound) => ({
    enqueue: (id, item) => sound.enqueue(id, item),
  })),
  'removes items of the sessions of other owners': store((sound) => ({
    removeItem: (id, itemId) => sound.removeItem(id, itemId),
  })),
  'inspects the sessions of other owners': store((sound) => ({ inspect: (id) => sound.inspect(id) })),
  'shows the executions of other owners': store((sound) => ({
    executions: (id, query) => sound.executions(id, { ...query, owner: undefined }),
  })),
  'shows the revisions of other owners': store((sound) => ({
    revisions: (id, query) => sound.revisions(id, { ...query, owner: undefined }),
  })),
  'loads the revisions of other owners': store((sound) => ({
    loadRevision: (id, version) => sound.loadRevision(id, version),
  })),
  'saves the sessions of other owners': refusing((sound, session, options) =>
    sound.save(session, { ...options, owner: undefined }),
  ),
  'takes the owner of a saved document': refusing(async (sound, { sessionId, owner, definition, state }) => {
    await sound.delete(sessionId);
    return sound.create(AgentSession.create({ sessionId, owner, definition, state }));
  }),
  'answers the save of another owner as a conflict': refusing(async (_, { sessionId }) => {
    throw new SessionConflictError(sessionId, 'stale', 1, 2);
  }),
  'takes the parent of a saved document': store((sound) => ({
    save: async (session, options) =>
      sound.save(session, options).catch(async (error: unknown) => {
        if (!hasErrorCode(error, 'ARGUMENT_INVALID') || session.parentId !== 'q') throw error;
        const { sessionId, parentId, owner, definition, state } = session;
        await sound.delete(sessionId);
        return sound.create(AgentSession.create({ sessionId, parentId, owner, definition, state }));
      }),
  })),
  'returns the session of another owner for a repeated save': store((sound) => ({
    save: (session, options) => {
      const isNamed = options?.operationId !== undefined && options.epoch === undefined;
      return sound.save(session, isNamed ? { ...options, owner: undefined } : options);
    },
  })),
  'grants claims that name no owner': store((sound) => ({
    claim: async (id, options) => {
      const claimed = await sound.claim(id, options);
      const { owner: _, ...claim } = claimed.claim;
      return { ...claimed, claim };
    },
  })),
  'renews a claim that names another owner': store((sound) => ({
    renew: async (claim, options) =>
      sound.renew(claim, options).catch(async (error: unknown) => {
        if (!hasErrorCode(error, 'SESSION_NOT_FOUND')) throw error;
        return sound.renew(await withActualOwner(sound, claim), options);
      }),
  })),
  'releases a claim that names another owner': store((sound) => ({
    release: async (claim, options) =>
      (await sound.release(claim, options)) || sound.release(await withActualOwner(sound, claim), options),
  })),
  'renews the claims of other owners': store((sound) => ({
    renew: (claim, options) => sound.renew(claim, { ...options, owner: undefined }),
  })),
  'releases the claims of other owners': store((sound) => ({
    release: (claim, options) => sound.release(claim, { ...options, owner: undefined }),
  })),
  'records failures of the sessions of other owners': store((sound) => ({
    recordFailure: (id, failed) => sound.recordFailure(id, failed),
  })),
  'tells the version of the session of another owner': store((sound) => ({
    create: (session, options) =>
      sound.create(session, options).catch(async (error: unknown) => {
        const isTaken = hasErrorCode(error, 'SESSION_CONFLICT');
        const stored = isTaken ? await sound.load(session.sessionId) : undefined;
        if (!stored) throw error;
        throw SessionConflictError.between(session.sessionId, session.revision, stored.revision);
      }),
  })),
};
