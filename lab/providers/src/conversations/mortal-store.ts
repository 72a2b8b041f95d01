import type { SessionStore } from '@holdfast/core';
import type { Dice } from './dice.ts';

/** The death of a process. */
export class Crash extends Error {}

/** A store as a process sees it that may die at each save, before it or after it. The dead process reaches nothing more. */
export function mortalStore<Store extends Pick<SessionStore, 'save'>>(store: Store, dice: Dice): Store {
  let isDead = false;
  const called = async (name: string | symbol, call: () => unknown): Promise<unknown> => {
    const dies = !isDead && name === 'save' && dice.chance(0.08);
    const result = isDead || (dies && dice.chance(0.5)) ? undefined : await call();
    isDead ||= dies;
    if (isDead) throw new Crash();
    return result;
  };
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      return (...given: readonly unknown[]) =>
        called(name, () => Reflect.apply(member, target, given) as unknown);
    },
  });
}
