import { checkArgument } from '../../arguments.ts';
import { invalidArgument } from '../../errors.ts';
import { SessionNotFoundError } from '../session-errors.ts';
import { OWNER } from '../title-labels-owner.ts';
import type { SessionPage, SessionQuery, SessionStore } from '../session-store.ts';
import { resolveSessionQuery } from '../store/backend/session-query.ts';
import type { RuntimeParts } from './runtime-options.ts';

/**
 * Returns the parts of a runtime that are different for one owner.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid owner, and for another owner than that of the parts.
 */
export function ownedParts(
  parts: RuntimeParts,
  owner: string,
): Pick<RuntimeParts, 'store' | 'owner' | 'cache'> {
  checkArgument('An owner', owner, OWNER);
  if (parts.owner === owner) return parts;
  if (parts.owner !== undefined)
    throw invalidArgument(
      'The runtime of one owner cannot become that of another. Call `for` of the first runtime.',
    );
  return { owner, store: ownedStore(parts.store, owner), cache: parts.cache.ownedBy(owner) };
}

/**
 * Returns a store in which only the sessions of one owner exist. A session of another owner behaves as one that does not
 * exist. It has no `SessionDirectory`, which shows the sessions of all owners.
 */
function ownedStore(store: SessionStore, owner: string): SessionStore {
  const own = { owner };
  return {
    capabilities: store.capabilities,
    create: async (session, options) => {
      if (session.owner !== owner)
        throw invalidArgument('The runtime of one owner creates sessions of this owner only.');
      const { parentId } = session; // the end of the session wakes the parent
      if (parentId !== undefined && !(await store.exists(parentId, own)))
        throw new SessionNotFoundError(parentId);
      return store.create(session, options);
    },
    load: (id, options) => store.load(id, { ...options, ...own }),
    save: (session, options) => store.save(session, { ...options, ...own }),
    claim: (id, options) => store.claim(id, { ...options, ...own }),
    renew: (claim, options) => store.renew(claim, { ...options, ...own }),
    release: (claim, options) => store.release(claim, { ...options, ...own }),
    enqueue: (id, item, options) => store.enqueue(id, item, { ...options, ...own }),
    removeItem: (id, itemId) => store.removeItem(id, itemId, own),
    recordFailure: (id, failed) => store.recordFailure(id, failed, own),
    exists: (id) => store.exists(id, own),
    inspect: (id) => store.inspect(id, own),
    executions: (id, query) => store.executions(id, { ...query, ...own }),
    revisions: (id, query) => store.revisions(id, { ...query, ...own }),
    loadRevision: (id, version) => store.loadRevision(id, version, own),
    delete: (id, options) => store.delete(id, { ...options, ...own }),
    list: (query) => listOwned(store, query, owner),
  };
}

async function listOwned(store: SessionStore, query: SessionQuery = {}, owner: string): Promise<SessionPage> {
  resolveSessionQuery(query); // an invalid query is an error even if no session can match it
  if (query.owner !== undefined && query.owner !== owner)
    return { sessions: [], unreadable: [], cursor: undefined };
  return store.list({ ...query, owner });
}
