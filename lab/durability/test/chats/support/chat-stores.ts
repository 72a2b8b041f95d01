import { join, dirname } from 'node:path';
import { MemorySessionStore } from '@holdfast/core';
import { MemorySessionChannel } from '@holdfast/core/channel';
import type { ChatLimits } from '@holdfast/ui-ai-sdk/handler';
import { inject } from 'vitest';
import { serveChats, workOnChats } from '../../../src/chats/chat-processes.ts';
import { Gates } from '../../../src/chats/gates.ts';
import { Journal } from '../../../src/journal.ts';
import { openStore, type Store } from '../../../src/stores.ts';
import { EFFORT } from '../../effort.ts';
import { serverOfBlock, TESTED_STORES, type TestedStore } from '../../servers.ts';
import { WorkerProcess } from '../../worker-process.ts';

/** A process of a chat. */
export interface StartedProcess {
  /** The address of a web process. */
  readonly url: string;
  /** Kills it, and waits until it is gone. */
  readonly kill: () => Promise<void>;
  /** Lets it live on after the test. */
  readonly share: () => void;
}

/** Starts a process of a chat with these arguments. */
export type StartProcess = (args: readonly string[]) => Promise<StartedProcess>;

/** A store for the chats of a test. */
export interface ChatStore {
  readonly hasDeltas: boolean;
  /** Opens an empty store. */
  readonly open: (folder: string) => Promise<{ readonly store: Store; readonly start: StartProcess }>;
}

/** The stores that processes share: SQLite and Redis, and with more effort DynamoDB. */
export const SHARED_STORES = TESTED_STORES.filter(({ name }) => EFFORT > 1 || name !== 'dynamodb');

const MEMORY: TestedStore = {
  name: 'memory',
  start: async () => ({ newLocation: async () => '', stop: async () => undefined }),
};

/** The shared stores, and with more effort the memory of one process. */
export const CHAT_STORES = EFFORT > 1 ? [...SHARED_STORES, MEMORY] : SHARED_STORES;

/** Returns the store of a block of tests, whose server runs during the block. */
export function storeOfBlock(tested: TestedStore): ChatStore {
  const { name } = tested;
  if (tested === MEMORY) return { hasDeltas: true, open: async (folder) => memoryStore(folder) };
  const newLocation = serverOfBlock(tested);
  return {
    hasDeltas: name !== 'dynamodb',
    async open(folder) {
      const location = await newLocation(folder);
      const store = await openStore(name, location);
      const init = {
        store: name,
        location,
        journal: join(folder, 'journal'),
        program: inject('chatProcess'),
      };
      return { store, start: (args) => startProcess(new WorkerProcess(init, ...args)) };
    },
  };
}

async function startProcess(started: WorkerProcess): Promise<StartedProcess> {
  const line = await started.line();
  if (line === undefined) throw new Error(`The process ended. ${(await started.ended).complaints}`);
  const { url } = JSON.parse(line) as { readonly url: string };
  const kill = async (): Promise<void> => {
    started.kill();
    await started.ended;
  };
  return { url, kill, share: () => started.share() };
}

/** A store in the memory of this process, with web servers and workers in this process too. */
function memoryStore(folder: string): { readonly store: Store; readonly start: StartProcess } {
  const store = new MemorySessionStore();
  const channel = new MemorySessionChannel();
  const start: StartProcess = async ([command, name = '', limits = '{}']) => {
    const writer = {
      gates: new Gates(join(folder, 'gates')),
      journal: new Journal(join(folder, 'journal')),
      name,
    };
    const parts = { store, channel: channel.connect(), ...writer };
    const pages = dirname(inject('chatProcess'));
    const options = { port: Number(name), limits: JSON.parse(limits) as ChatLimits, pages };
    const { url, stop } =
      command === 'worker' ? await workOnChats(parts, writer) : await serveChats({ ...parts, ...options });
    return { url, kill: stop, share: () => undefined };
  };
  return { store, start };
}
