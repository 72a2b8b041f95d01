import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openai } from '@ai-sdk/openai';
import { createAgentLoop, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import type { CallToDecide } from '@holdfast/ui-ai-sdk/handler';
import { z } from 'zod';
import { offlineDriver } from './offline-driver.ts';

/** The folder of the databases, and of the files that tools write. */
export const folder = process.env['DATA_FOLDER'] ?? '.holdfast';

const bill = z.object({ euros: z.number() });

const pay = tool({
  name: 'pay',
  description: 'Pays a bill.',
  inputSchema: bill,
  needsApproval: true,
  async execute({ euros }) {
    await write('payments.txt', `${euros} euros`);
    return `Paid ${euros} euros.`;
  },
});

const print = tool({
  name: 'print',
  description: 'Prints pages, one in a second.',
  inputSchema: z.object({ pages: z.number() }),
  async execute({ pages }, { signal }) {
    await write('printer.txt', `${pages} pages`);
    await pause(pages * 1000, undefined, { signal });
    return `Printed ${pages} pages.`;
  },
});

/** The user of the page decides on small payments. For the others, the page waits for another person. */
export function mayDecide({ name, args }: CallToDecide): boolean {
  return name === 'pay' && bill.parse(args).euros <= 100;
}

/** The page answers this call. */
const timeZone = tool({
  name: 'timeZone',
  description: 'Returns the time zone of the user.',
  inputSchema: z.object({}),
  outputSchema: z.string(),
});

const hasKey = process.env['OPENAI_API_KEY'] !== undefined;
const driver = hasKey ? aiSdkDriver({ model: openai('gpt-5-mini') }) : offlineDriver;
export const agents = { clerk: createAgentLoop({ driver, tools: [pay, print, timeZone] }) };

async function write(name: string, line: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The comment inside tells Next.js that the program does not read its own files here.
  await appendFile(join(/* turbopackIgnore: true */ folder, name), `${line}\n`);
}
