import { setImmediate } from 'node:timers/promises';
import type { Defect } from './engine-parts.ts';
import { advancing, isLater, serving, TimeOuts, waking, watching } from './engine-parts.ts';

/** Wake-ups and moments. */
export const wakingDefects: Readonly<Record<string, Defect>> = {
  'forgets who is woken while it works on it': watching(async ({ engine }, underWay, id, options) => {
    if (!underWay.has(id)) await engine.wake(id, options);
  }),
  'works on a session as often as it is woken': ({ engine }) => {
    let wakes = 0;
    return {
      wake: (id, options) => engine.wake(`${wakes++} ${id}`, options),
      serve: (advance, options) =>
        engine.serve((name, given) => advance(name.slice(name.indexOf(' ') + 1), given), options),
    };
  },
  'looks once for each wake-up': (sound) => {
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
  'looks twice': waking(async ({ engine }, id, options) => {
    await engine.wake(id, options);
    await setImmediate();
    await engine.wake(id, options);
  }),
  'takes a session once': (sound) => {
    const taken = new Set<string>();
    return {
      async wake(id, options) {
        if (!taken.has(id)) await sound.engine.wake(id, options);
        taken.add(id);
      },
    };
  },
  'keeps nothing until it serves': ({ engine }) => {
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
  'is woken when the work is done': (sound) => {
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
  'knows 100 sessions': ({ engine }) => {
    const known = new Set<string>();
    return {
      async wake(id, options) {
        if (known.size < 100) known.add(id);
        if (known.has(id)) await engine.wake(id, options);
      },
    };
  },
};

/** Wake-ups at a moment. */
export const momentDefects: Readonly<Record<string, Defect>> = {
  'wakes at once, whatever the moment': waking(({ engine }, id) => engine.wake(id)),
  'wakes a moment too late': waking(({ engine }, id, options) =>
    engine.wake(id, options?.at === undefined ? {} : { at: options.at + 1 }),
  ),
  'forgets moments': waking(async (sound, id, options) => {
    if (!isLater(sound, options?.at)) await sound.engine.wake(id);
  }),
  'forgets moments that are over': waking(async (sound, id, options) => {
    if (options?.at === undefined || isLater(sound, options.at)) await sound.engine.wake(id, options);
  }),
  'keeps the last moment that was said': (sound) => {
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
  'puts off a wake-up until the moment that was said before': (sound) => {
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
  'forgets the moment of who is woken before': (sound) => {
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
  'forgets a moment that comes while it works': (sound) => {
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
  'takes what is further away than a timer reaches for now': waking(({ engine, clock }, id, options) =>
    engine.wake(id, (options?.at ?? 0) - clock.now() > 2 ** 31 - 1 ? {} : options),
  ),
  'forgets moments when it stops': (sound) => {
    const { engine, clock } = sound;
    const timeOuts = new TimeOuts(clock);
    const forgetting = serving(async (_, advance, options) => {
      const served = await engine.serve(advance, options);
      return {
        stop() {
          timeOuts.callOffAll();
          return served.stop();
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
