import { setImmediate } from 'node:timers/promises';
import {
  MemorySessionChannel,
  type ChannelEntry,
  type ChannelNews,
  type ChannelNotification,
  type PublishOptions,
  type SubscribeOptions,
} from '@holdfast/core/channel';

type Listener = (news: ChannelNews) => void;

/** Returns a channel that passes its calls on, changed by a defect, to a channel that is right. */
export type Defect = (inner: MemorySessionChannel) => Partial<MemorySessionChannel>;

type Publish = (
  id: string,
  batch: readonly ChannelEntry[],
  options: PublishOptions | undefined,
) => Parameters<MemorySessionChannel['publish']>;

const publishing =
  (change: Publish): Defect =>
  (inner) => ({
    publish: (id, batch, options) => inner.publish(...change(id, batch, options)),
  });

const listening =
  (change: (listener: Listener, options: SubscribeOptions) => Listener): Defect =>
  (inner) => ({
    subscribe: (id, listener, options) => inner.subscribe(id, change(listener, options), options),
  });

const naming =
  (nameOf: (id: string) => string): Defect =>
  (inner) => ({
    publish: (id, ...rest) => inner.publish(nameOf(id), ...rest),
    subscribe: (id, ...rest) => inner.subscribe(nameOf(id), ...rest),
    notify: (id, ...rest) => inner.notify(nameOf(id), ...rest),
    onNotification: (id, ...rest) => inner.onNotification(nameOf(id), ...rest),
  });

const forAll = (listener: Listener): Listener => {
  const waiting: ChannelEntry[] = [];
  return (news) => {
    if (news.type === 'entries') waiting.push(...news.entries);
    listener(news.type === 'entries' ? { type: 'entries', entries: [...waiting] } : news);
  };
};

/** The defects that show only in another process. Their cases take longer. */
export const SHARING_DEFECTS: ReadonlySet<string> = new Set([
  'stays open',
  'removes its tails when it closes',
  'shares nothing with other processes',
]);

/** Returns the entries in the text of a database that stores UTF-8. */
function asUtf8(batch: readonly ChannelEntry[]): ChannelEntry[] {
  return JSON.parse(JSON.stringify(batch).replaceAll(/\\ud[89a-f]../gu, '\ufffd')) as ChannelEntry[];
}

/** Channels with a defect, by what the channel does. */
export const defects: Readonly<Record<string, Defect>> = {
  'claims to transport saves only': () => ({ capabilities: { tail: 'saves', delivery: 'pushed' } }),
  'delivers the entries of a batch from the last to the first': publishing((id, batch, options) => [
    id,
    batch.toReversed(),
    options,
  ]),
  'delivers earlier entries again with each batch': listening(forAll),
  'drops every tenth batch': () => {
    let count = 0;
    const inner = new MemorySessionChannel();
    return {
      ...methods(inner),
      publish: async (...given) => (++count % 10 === 0 ? undefined : inner.publish(...given)),
    };
  },
  'keeps no tail': (inner) => ({
    publish: async (id, batch) => {
      await inner.publish(id, batch);
      await inner.publish(id, [], { trim: true });
    },
  }),
  'ignores a trim': publishing((id, batch) => [id, batch]),
  'trims the batch itself': (inner) => ({
    publish: async (id, batch, options) => {
      await inner.publish(id, batch, options);
      if (options?.trim) await inner.publish(id, [], options);
    },
  }),
  'trims all sessions': (inner) => {
    const ids = new Set<string>();
    return {
      publish: async (id, batch, options) => {
        ids.add(id);
        if (options?.trim) for (const other of ids) await inner.publish(other, [], options);
        return inner.publish(id, batch, options);
      },
    };
  },
  'has tails without a limit': (inner) => {
    const tails = new Map<string, ChannelEntry[]>();
    return {
      publish: async (id, batch, options) => {
        tails.set(id, [...(options?.trim ? [] : (tails.get(id) ?? [])), ...batch]);
        await inner.publish(id, batch, options);
        await inner.publish(`${id}/tail`, []);
      },
      subscribe: async (id, listener, options) => {
        const entries = tails.get(id);
        if (entries && !options.signal.aborted) listener({ type: 'entries', entries });
        let isTail = true;
        const subscribed = inner.subscribe(id, (news) => isTail || listener(news), options);
        isTail = false;
        return subscribed;
      },
    };
  },
  'stores texts as UTF-8': publishing((id, batch, options) => [id, asUtf8(batch), options]),
  'publishes a batch entry by entry': (inner) => ({
    publish: async (id, batch, options) => {
      if (options?.trim) await inner.publish(id, [], options);
      for (const entry of batch) await inner.publish(id, [entry]);
    },
  }),
  'resolves a subscription before the tail has arrived': listening((listener) => {
    return (news) => {
      void setImmediate()
        .then(() => listener(news))
        .catch(() => undefined);
    };
  }),
  'delivers to a subscriber that has left': (inner) => ({
    subscribe: (id, listener) => inner.subscribe(id, listener, { signal: new AbortController().signal }),
  }),
  'throws the error of a listener into its publisher': (inner) => {
    let error: unknown;
    return {
      publish: async (...given) => {
        await inner.publish(...given);
        if (error) throw error as Error;
      },
      subscribe: (id, listener, options) =>
        inner.subscribe(
          id,
          (news) => {
            try {
              listener(news);
            } catch (thrown) {
              error = thrown;
            }
          },
          options,
        ),
    };
  },
  'compares ids without case': naming((id) => id.toLowerCase()),
  'normalizes ids': naming((id) => id.normalize()),
  'truncates ids at NUL': naming((id) => id.split('\0')[0] ?? ''),
  'omits the execution of a notification': (inner) => ({
    notify: (id, { type }) => inner.notify(id, { type }),
  }),
  'notifies of everything with look': (inner) => ({
    notify: (id, { executionId }) => inner.notify(id, { type: 'look', executionId }),
  }),
  'has one listener for each session': (inner) => {
    const removals = new Map<string, () => void>();
    return {
      onNotification: (id, listener) => {
        removals.get(id)?.();
        const remove = inner.onNotification(id, listener);
        removals.set(id, remove);
        return remove;
      },
    };
  },
  'does not remove a listener of notifications': (inner) => ({
    onNotification: (id, listener) => {
      inner.onNotification(id, listener);
      return () => undefined;
    },
  }),
  'throws the error of a listener into its caller': (inner) => {
    const listeners = new Map<string, Set<(notification: ChannelNotification) => void>>();
    return {
      notify: async (id, notification) => {
        for (const listener of listeners.get(id) ?? []) listener(notification);
        await inner.notify(id, notification);
      },
      onNotification: (id, listener) => {
        const all = listeners.get(id) ?? new Set();
        listeners.set(id, all.add(listener));
        return () => void all.delete(listener);
      },
    };
  },
  'rejects a notification that nobody receives': (inner) => {
    const ids = new Set<string>();
    return {
      notify: async (id, notification) => {
        if (!ids.has(id)) throw new Error('Nobody listens.');
        await inner.notify(id, notification);
      },
      onNotification: (id, listener) => {
        ids.add(id);
        return inner.onNotification(id, listener);
      },
    };
  },
  'stays open': () => ({ close: async () => undefined }),
  'throws at a second close': (inner) => {
    let isClosed = false;
    return {
      close: async () => {
        if (isClosed) throw new Error('It is closed.');
        isClosed = true;
        await inner.close();
      },
    };
  },
  'removes its tails when it closes': (inner) => {
    const ids = new Set<string>();
    return {
      publish: (id, ...rest) => {
        ids.add(id);
        return inner.publish(id, ...rest);
      },
      close: async () => {
        for (const id of ids) await inner.publish(id, [], { trim: true }).catch(() => undefined);
        await inner.close();
      },
    };
  },
  'shares nothing with other processes': () => methods(new MemorySessionChannel()),
};

/** The methods of a channel, which replace those of another. */
function methods(channel: MemorySessionChannel): Partial<MemorySessionChannel> {
  return {
    publish: (...given) => channel.publish(...given),
    subscribe: (...given) => channel.subscribe(...given),
    notify: (...given) => channel.notify(...given),
    onNotification: (...given) => channel.onNotification(...given),
    close: () => channel.close(),
  };
}
