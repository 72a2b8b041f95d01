import type { ChannelCase, ChannelGroup, UngroupedChannelCase } from './channel-case.ts';
import { capabilityCases, closingCases } from './closing-cases.ts';
import { notificationCases } from './notification-cases.ts';
import { readerCases } from './reader-cases.ts';
import { lossCases, sharingCases, tailCases, trimCases } from './tail-cases.ts';

const GROUPS: Readonly<Record<ChannelGroup, readonly UngroupedChannelCase[]>> = {
  capabilities: capabilityCases,
  notifications: notificationCases,
  tails: tailCases,
  trims: trimCases,
  sharing: sharingCases,
  readers: readerCases,
  losses: lossCases,
  closing: closingCases,
};

/** The requirements on every session channel. */
export const channelCases: readonly ChannelCase[] = Object.entries(GROUPS).flatMap(([group, cases]) =>
  cases.map((one) => ({ group: group as ChannelGroup, ...one })),
);
