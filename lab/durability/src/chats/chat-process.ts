// A process of a chat: `worker NAME` works, `web PORT LIMITS` serves. It runs until it is killed.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChatLimits } from '@holdfast/ui-ai-sdk/handler';
import { CHANNELS } from './channels.ts';
import { Journal } from '../journal.ts';
import { readSettings } from '../settings.ts';
import { openStore } from '../stores.ts';
import { serveChats, workOnChats } from './chat-processes.ts';
import { Gates } from './gates.ts';

const { store: name, location, journal } = readSettings();
const [, , command, argument = '', limits = '{}'] = process.argv;

const [store, channel] = await Promise.all([openStore(name, location), CHANNELS[name]?.(location)]);
if (!channel) throw new Error(`There is no channel "${name}".`);
const gates = new Gates(join(dirname(journal), 'gates'));
const writer = { gates, journal: new Journal(journal), name: argument };
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
