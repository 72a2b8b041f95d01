import type { InboxItem, InboxItemName, SessionClaim, SessionStore } from '@holdfast/core';

const LEASE = { leaseSeconds: 60 };

/** Names items that were enqueued in this order, the first in an inbox that was never used. */
export function named(...ids: readonly string[]): InboxItemName[] {
  return ids.map((id, position) => ({ id, position }));
}

/** The ids of the items that a renewal shows. */
export async function itemIdsOf(store: SessionStore, claim: SessionClaim): Promise<string[]> {
  return (await store.renew(claim, LEASE)).inbox.map(({ id }) => id);
}

/** What a new owner finds. Ends the claim again. */
export async function inboxOf(store: SessionStore): Promise<readonly InboxItem[]> {
  const { claim, inbox } = await store.claim('a', { owner: 'reader', ...LEASE });
  await store.release(claim);
  return inbox;
}
