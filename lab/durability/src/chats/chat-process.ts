// A process of a chat: `worker NAME` works, `web PORT LIMITS` serves. It runs until it is killed.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChatLimits } from '@holdfast/ui-ai-sdk/handler';
import { CHANNELS } from './channels.ts';
import { Journal } from '../journal.ts';
import { STORES } from '../stores.ts';
import { serveChats, workOnChats } from './chat-processes.ts';
import { Gates } from './gates.ts';

const { STORE = '', LOCATION = '', JOURNAL = '' } = process.env;
const [, , command, argument = '', limits = '{}'] = process.argv;

const [store, channel] = await Promise.all([STORES[STORE]?.(LOCATION), CHANNELS[STORE]?.(LOCATION)]);
if (!store || !channel) throw new Error(`There is no store "${STORE}".`);
const gates = new Gates(join(dirname(JOURNAL), 'gates'));
const writer = { gates, journal: new Journal(JOURNAL), name: argument };
const shared = { store, channel };
const { url } =
  command === 'worker'
    ? await workOnChats(shared, writer)
    : await serveChats({
        ...shared,
        ...writer,
        pages: dirname(fileURLToPath(import.meta.url)),
        port: Number(argument),
        limits: JSON.parse(limits) as ChatLimits,
      });
console.log(JSON.stringify({ url }));
