import { RedisSessionStore } from '@holdfast/store-redis';
import { Redis } from 'ioredis';

/** A store under a prefix, as in `redis://127.0.0.1:6379#prefix`. `midWrite` is called when a script was sent. */
export async function openRedis(location: string, midWrite?: () => void): Promise<RedisSessionStore> {
  const { client, prefix } = newRedisClient(location);
  const store = new RedisSessionStore({ client: midWrite ? interrupted(client, midWrite) : client, prefix });
  return Object.assign(store, { close: async () => client.disconnect() });
}

/** The client and the prefix of a location. */
export function newRedisClient(location: string): { readonly client: Redis; readonly prefix: string } {
  const { hash, origin, host } = new URL(location);
  const client = new Redis(origin === 'null' ? `redis://${host}` : origin, { replyMapping: 'legacy' });
  client.on('error', () => undefined);
  return { client, prefix: hash.slice(1) };
}

function interrupted(client: Redis, midWrite: () => void): Redis {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = member.apply(target, args);
        if (String(name).endsWith('Buffer')) setImmediate(midWrite); // the socket has it by then
        return result;
      };
    },
  });
}
