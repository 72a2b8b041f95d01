import { Redis } from 'ioredis';
import type { RunStep, StorePeer, StorePlace } from '../store-peer.ts';

const KEY = 'run';
/** KEYS: the hash. ARGV: the version that is expected, the fields and values that are written with the next one. */
const SAVE = `if (redis.call('HGET', KEYS[1], 'v') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1] + 1, unpack(ARGV, 2))
return 1`;

/** The messages and the step that are new, in one script call with a version: the floor of what a save can cost. */
export function appendOnly(place: StorePlace): StorePeer {
  let count = 0;
  return onVersion(place, {
    fields: ({ index, messages, step }) => {
      const added = messages.flatMap((message) => [`m:${count++}`, JSON.stringify(message)]);
      return [...added, `s:${index}`, JSON.stringify(step)];
    },
    messages: (fields) => Object.keys(fields).filter((name) => name.startsWith('m:')).length,
  });
}

/** The whole document in one script call with a version. */
export function wholeJson(place: StorePlace): StorePeer {
  return onVersion(place, {
    fields: ({ document }) => ['d', JSON.stringify(document)],
    messages: ({ d = '' }) => messagesOf(JSON.parse(d)),
  });
}

/** How many messages the document of a state has. */
export function messagesOf(document: unknown): number {
  const { context } = document as {
    readonly context: { readonly sections: readonly { readonly messages: readonly unknown[] }[] };
  };
  return context.sections[0]?.messages.length ?? 0;
}

interface Layout {
  readonly fields: (step: RunStep) => readonly string[];
  readonly messages: (fields: Readonly<Record<string, string>>) => number;
}

function onVersion({ url }: StorePlace, { fields, messages }: Layout): StorePeer {
  const client = new Redis(url);
  client.defineCommand('saveRun', { lua: SAVE, numberOfKeys: 1 });
  const { saveRun } = client as unknown as {
    saveRun: (key: string, ...args: readonly (string | number)[]) => Promise<number>;
  };
  return {
    prepare: (step) => async () => {
      const isDone = await saveRun.call(client, KEY, step.index, ...fields(step));
      if (isDone !== 1) throw new Error(`Another version than ${step.index} is there.`);
    },
    messages: async () => messages(await client.hgetall(KEY)),
    close: () => client.quit(),
  };
}
