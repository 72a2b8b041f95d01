import assert from 'node:assert/strict';
import type { SessionStore } from '@holdfast/core';
import type { InboxItem, InboxItemRef, SessionClaim } from '@holdfast/core/store';

const LEASE = { leaseSeconds: 60 };

/** Names items that were enqueued in this order, the first in an inbox that was never used. */
export function named(...ids: readonly string[]): InboxItemRef[] {
  return ids.map((id, position) => ({ id, position }));
}

/** The ids of the items that a renewal shows: all that wait, and each can be read. */
export async function itemIdsOf(store: SessionStore, claim: SessionClaim): Promise<string[]> {
  const { inbox, unreadable } = await store.renew(claim, LEASE);
  assert.deepEqual(unreadable, []);
  return inbox.map(({ id }) => id);
}

/** What a new owner finds: all that waits, and each can be read. Ends the claim again. */
export async function inboxOf(store: SessionStore): Promise<readonly InboxItem[]> {
  const { claim, inbox, unreadable } = await store.claim('a', { workerId: 'reader', ...LEASE });
  await store.release(claim);
  assert.deepEqual(unreadable, []);
  return inbox;
}
