import { tool, type Tool } from '@holdfast/core';
import { z } from 'zod';
import { appendOnce } from './effect-file.ts';

/** From this amount on a person must approve. */
const approvedFrom = 100;

/** Pays: adds a line to the file of payments. Large amounts wait for a person. */
export function pay(payments: string): Tool {
  return tool({
    name: 'pay',
    description: `Pays an amount in euros. From ${approvedFrom} on, a person must approve first.`,
    inputSchema: z.object({
      to: z.string().min(1).max(200).describe('The recipient'),
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
