import { tool } from '@holdfast/core';
import type { Tool } from '@holdfast/core';
import { z } from 'zod';
import { appendOnce } from './effect-file.ts';

/** From this amount on a person must approve. */
const approvedFrom = 100;

/** Pays somebody: a line in the file of payments. Large amounts wait for a person. */
export function pay(payments: string): Tool {
  return tool({
    name: 'pay',
    description: `Pays somebody an amount in euros. A person is asked first from ${approvedFrom} on.`,
    inputSchema: z.object({
      to: z.string().min(1).max(200).describe('Who gets it'),
      amount: z.number().positive().max(1_000_000).describe('Euros'),
    }),
    effect: 'idempotent',
    needsApproval: ({ amount }) => amount >= approvedFrom,
    async execute({ to, amount }, { idempotencyKey }) {
      await appendOnce(payments, idempotencyKey, [String(amount), `to ${to}`]);
      return { receipt: `B-${idempotencyKey.slice(0, 8)}`, to, amount };
    },
  });
}
