import assert from 'node:assert/strict';
import type { SessionStore } from '@holdfast/core';
import type { InboxItem, InboxItemRef, SessionClaim } from '@holdfast/core/store';

const LEASE = { leaseSeconds: 60 };

/** References to the items with these ids, enqueued in this order to an unused inbox. */
export function named(...ids: readonly string[]): InboxItemRef[] {
  return ids.map((id, position) => ({ id, position }));
}

/** The ids of the items that a renewal returns. Asserts that all items are readable. */
export async function itemIdsOf(store: SessionStore, claim: SessionClaim): Promise<string[]> {
  const { inbox, unreadable } = await store.renew(claim, LEASE);
  assert.deepEqual(unreadable, []);
  return inbox.map(({ id }) => id);
}

/** The items that a new claim returns. Asserts that all items are readable, and releases the claim. */
export async function inboxOf(store: SessionStore): Promise<readonly InboxItem[]> {
  const { claim, inbox, unreadable } = await store.claim('a', { workerId: 'reader', ...LEASE });
  await store.release(claim);
  assert.deepEqual(unreadable, []);
  return inbox;
}
