import { setImmediate } from 'node:timers/promises';
import { advancing, isLater, serving, TimeOuts, waking, watching, type Defect } from './engine-parts.ts';

/** Defects in wake-ups now and at an instant. */
export const wakingDefects: Readonly<Record<string, Defect>> = {
  'forgets a wake-up during an advance': watching(async ({ engine }, underWay, id, options) => {
    if (!underWay.has(id)) await engine.wake(id, options);
  }),
  'advances a session at the same time for each wake-up': ({ engine }) => {
    let wakes = 0;
    return {
      wake: (id, options) => engine.wake(`${wakes++} ${id}`, options),
      serve: (advance, options) =>
        engine.serve((name, given) => advance(name.slice(name.indexOf(' ') + 1), given), options),
    };
  },
  'advances a session once for each wake-up': (sound) => {
    const wakes = new Map<string, number>();
    const left = (id: string): number => wakes.get(id) ?? 0;
    const counting = advancing((advance) => async (id, options) => {
      wakes.set(id, left(id) - 1);
      const result = await advance(id, options);
      return left(id) > 0 ? { ...result, wake: [...result.wake, id] } : result;
    });
    return {
      ...counting(sound),
      wake(id, options) {
        wakes.set(id, left(id) + 1);
        return sound.engine.wake(id, options);
      },
    };
  },
  'advances a session twice': waking(async ({ engine }, id, options) => {
    await engine.wake(id, options);
    await setImmediate();
    await engine.wake(id, options);
  }),
  'advances a session only once': (sound) => {
    const taken = new Set<string>();
    return {
      async wake(id, options) {
        if (!taken.has(id)) await sound.engine.wake(id, options);
        taken.add(id);
      },
    };
  },
  'forgets wake-ups before it serves': ({ engine }) => {
    let hasServed = false;
    return {
      async wake(id, options) {
        if (hasServed) await engine.wake(id, options);
      },
      serve(...args) {
        hasServed = true;
        return engine.serve(...args);
      },
    };
  },
  'resolves wake when the advance has ended': (sound) => {
    const { engine, clock } = sound;
    const waiting = new Map<string, () => void>();
    const telling = advancing((advance) => async (id, options) => {
      try {
        return await advance(id, options);
      } finally {
        waiting.get(id)?.();
      }
    });
    return {
      ...telling(sound),
      async wake(id, options) {
        await engine.wake(id, options);
        if (!isLater({ engine, clock }, options?.at))
          await new Promise<void>((resolve) => waiting.set(id, resolve));
      },
    };
  },
  'refuses ids with a colon': waking(async ({ engine }, id, options) => {
    if (id.includes(':')) throw new Error('An id must not contain a colon.');
    await engine.wake(id, options);
  }),
  'stores at most 100 sessions': ({ engine }) => {
    const known = new Set<string>();
    return {
      async wake(id, options) {
        if (known.size < 100) known.add(id);
        if (known.has(id)) await engine.wake(id, options);
      },
    };
  },
};

/** Defects in wake-ups at an instant. */
export const momentDefects: Readonly<Record<string, Defect>> = {
  'wakes at once, ignoring the instant': waking(({ engine }, id) => engine.wake(id)),
  'wakes a millisecond too late': waking(({ engine }, id, options) =>
    engine.wake(id, options?.at === undefined ? {} : { at: options.at + 1 }),
  ),
  'forgets wake-ups at an instant': waking(async (sound, id, options) => {
    if (!isLater(sound, options?.at)) await sound.engine.wake(id);
  }),
  'forgets wake-ups at an instant in the past': waking(async (sound, id, options) => {
    if (options?.at === undefined || isLater(sound, options.at)) await sound.engine.wake(id, options);
  }),
  'stores only the last wake-up at an instant': (sound) => {
    const { engine, clock } = sound;
    const timeOuts = new TimeOuts(clock);
    return {
      async wake(id, options) {
        if (!isLater(sound, options?.at)) return engine.wake(id);
        timeOuts.callOff(id);
        timeOuts.set(id, options?.at ?? 0, () => void engine.wake(id));
      },
    };
  },
  'delays a wake-up until an earlier wake-up at an instant': (sound) => {
    const { engine, clock } = sound;
    const timeOuts = new TimeOuts(clock);
    return {
      async wake(id, options) {
        const { at } = options ?? {};
        if (isLater(sound, at)) timeOuts.set(id, at, () => void engine.wake(id));
        else if (!timeOuts.has(id)) await engine.wake(id);
      },
    };
  },
  'forgets a wake-up at an instant when the session is woken before': (sound) => {
    const { engine, clock } = sound;
    const timeOuts = new TimeOuts(clock);
    return {
      async wake(id, options) {
        const { at } = options ?? {};
        if (isLater(sound, at)) return timeOuts.set(`${id} ${at}`, at, () => void engine.wake(id));
        timeOuts.callOffAll();
        return engine.wake(id);
      },
    };
  },
  'forgets a wake-up whose instant comes during an advance': (sound) => {
    const timeOuts = new TimeOuts(sound.clock);
    const later = watching(async ({ engine }, underWay, id, options) => {
      const { at } = options ?? {};
      if (!isLater(sound, at)) return engine.wake(id);
      timeOuts.set(`${id} ${at}`, at, () => {
        if (!underWay.has(id)) void engine.wake(id);
      });
    });
    return later(sound);
  },
  'treats an instant beyond the longest timer as now': waking(({ engine, clock }, id, options) =>
    engine.wake(id, (options?.at ?? 0) - clock.now() > 2 ** 31 - 1 ? {} : options),
  ),
  'forgets wake-ups at an instant when it stops': (sound) => {
    const { engine, clock } = sound;
    const timeOuts = new TimeOuts(clock);
    const forgetting = serving(async (_, advance, options) => {
      const served = await engine.serve(advance, options);
      return {
        stop(stopOptions) {
          timeOuts.callOffAll();
          return served.stop(stopOptions);
        },
      };
    });
    return {
      ...forgetting(sound),
      async wake(id, options) {
        const { at } = options ?? {};
        if (!isLater(sound, at)) return engine.wake(id);
        timeOuts.set(`${id} ${at}`, at, () => void engine.wake(id));
      },
    };
  },
};
