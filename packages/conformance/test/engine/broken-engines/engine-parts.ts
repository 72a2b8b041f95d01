import { InProcessEngine, type Clock } from '@holdfast/core';
import type { Advance, AdvanceResult, ExecutionEngine } from '@holdfast/core/engine';
import type { CreateEngine } from '@holdfast/conformance';

export type Wake = ExecutionEngine['wake'];
type Serve = ExecutionEngine['serve'];

/** A correct engine, and its clock. */
export interface Sound {
  readonly engine: ExecutionEngine;
  readonly clock: Clock;
}

/** Returns the methods that replace those of a correct engine. */
export type Defect = (sound: Sound) => Partial<ExecutionEngine>;

/** Creates a correct engine. */
export const inProcess = (clock: Clock): ExecutionEngine => new InProcessEngine({ clock });

/** Creates engines with a defect. */
export const brokenEngine =
  (defect: Defect): CreateEngine =>
  async (clock) => {
    const engine = inProcess(clock);
    const sound: ExecutionEngine = {
      wake: (...args) => engine.wake(...args),
      serve: (...args) => engine.serve(...args),
    };
    return { engine: { ...sound, ...defect({ engine, clock }) }, close: async () => undefined };
  };

export const waking =
  (wake: (sound: Sound, ...args: Parameters<Wake>) => Promise<void>): Defect =>
  (sound) => ({ wake: (...args) => wake(sound, ...args) });

export const serving =
  (serve: (sound: Sound, ...args: Parameters<Serve>) => ReturnType<Serve>): Defect =>
  (sound) => ({ serve: (...args) => serve(sound, ...args) });

export const advancing = (change: (advance: Advance, sound: Sound) => Advance): Defect =>
  serving((sound, advance, options) => sound.engine.serve(change(advance, sound), options));

export const suspended = (wake: readonly string[]): AdvanceResult => ({
  outcome: { type: 'suspended' },
  wake,
});

/** Changes the result of each advance. */
export const ending = (change: (result: AdvanceResult, sessionId: string) => AdvanceResult): Defect =>
  advancing((advance) => async (id, options) => change(await advance(id, options), id));

/** Replaces `wake` by a function that also receives the ids of the sessions whose advance is running. */
export function watching(
  wake: (sound: Sound, underWay: ReadonlySet<string>, ...args: Parameters<Wake>) => Promise<void>,
): Defect {
  return (sound) => {
    const underWay = new Set<string>();
    const watched = advancing((advance) => async (id, options) => {
      underWay.add(id);
      try {
        return await advance(id, options);
      } finally {
        underWay.delete(id);
      }
    });
    return { ...watched(sound), wake: (...args) => wake(sound, underWay, ...args) };
  };
}

export const isLater = ({ clock }: Sound, at: number | undefined): at is number =>
  at !== undefined && at > clock.now();

/** Timers that are set and cleared by name. */
export class TimeOuts {
  private readonly clock: Clock;
  private readonly callOffs = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  set(name: string, at: number, callback: () => void): void {
    const callOff = this.clock.after?.(at - this.clock.now(), () => {
      this.callOffs.delete(name);
      callback();
    });
    if (callOff) this.callOffs.set(name, callOff);
  }

  has(name: string): boolean {
    return this.callOffs.has(name);
  }

  callOff(name: string): void {
    this.callOffs.get(name)?.();
    this.callOffs.delete(name);
  }

  callOffAll(): void {
    for (const name of this.callOffs.keys()) this.callOff(name);
  }
}
