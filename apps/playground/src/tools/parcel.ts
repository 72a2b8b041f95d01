import { setTimeout as wait } from 'node:timers/promises';
import { tool, type Tool } from '@holdfast/core';
import { z } from 'zod';
import { appendOnce } from './effect-file.ts';

/** The outbox, and the duration of sending. */
export interface ParcelOptions {
  /** The file that gets one line a parcel. */
  readonly outbox: string;
  readonly seconds: number;
}

/**
 * Sends a parcel: slow, and with a visible effect. The line in the outbox carries the idempotency key;
 * a key that is already there sends no second parcel. An abort before the end sends nothing.
 */
export function sendParcel({ outbox, seconds }: ParcelOptions): Tool {
  return tool({
    name: 'send_parcel',
    description: `Sends a parcel. Takes about ${seconds} seconds and cannot be undone.`,
    inputSchema: z.object({
      to: z.string().min(1).max(200).describe('The recipient'),
      item: z.string().min(1).max(200).describe('The content'),
    }),
    timeoutSeconds: seconds + 30,
    effect: 'idempotent',
    async execute({ to, item }, { idempotencyKey, signal }) {
      const receipt = `P-${idempotencyKey.slice(0, 8)}`;
      await wait(seconds * 1000, undefined, { signal });
      await appendOnce(outbox, idempotencyKey, [item, `to ${to}`]);
      return { receipt, to, item };
    },
  });
}
