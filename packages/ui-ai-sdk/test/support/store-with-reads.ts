import { MemorySessionStore, type SessionStore } from '@holdfast/core';

/** Returns a store that calls `after` when it has read a session. */
export function storeWithReads(
  after: () => Promise<void>,
  store: SessionStore = new MemorySessionStore(),
): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'load' && name !== 'inspect') return member.bind(target) as unknown;
      return async (...args: unknown[]) => {
        const result: unknown = await member.apply(target, args);
        await after();
        return result;
      };
    },
  });
}
