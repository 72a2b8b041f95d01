import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { mustBe, optionsCheck } from '@holdfast/core/engine';
import type { Clock } from '@holdfast/core';
import type { ExecutionEngine, EngineWorker } from '@holdfast/core/engine';
import type { EngineClock } from './engine-clock.ts';
import { machineClock, movedClock } from './engine-clock.ts';
import { SUSPENDED, RecordedAdvances } from './recorded-advances.ts';
import type { Act, Look } from './recorded-advances.ts';

/** An engine, and its end. */
export interface EngineUnderTest {
  readonly engine: ExecutionEngine;
  /** Removes the engine, and what it keeps. It has been stopped before. */
  readonly close: () => Promise<void>;
}

/** Makes an engine that has nothing to do. It goes by the clock if it can. */
export type CreateEngine = (clock: Clock) => Promise<EngineUnderTest>;

/** What is to be known of an engine. Cases that need what it cannot are skipped, by name. */
export interface EngineAbilities {
  /** It takes time and time-outs from the clock that it is made with. Otherwise cases wait, a moment each. */
  readonly clock?: boolean | undefined;
  /**
   * About how long it takes to hand a wake-up to who serves, in milliseconds. Cases wait up to 500 times as long for what
   * must happen, and 25 times for what must not. Default 0, a turn of the event loop: it does all of it in this process.
   */
  readonly turnMilliseconds?: number | undefined;
}

/** An ability with another name would have cases skipped. */
export const checkAbilities = optionsCheck<EngineAbilities>('abilities', {
  clock: mustBe.boolean,
  turnMilliseconds: mustBe.number(0),
});

/** The part of the contract that a case belongs to. */
export type EngineGroup = 'wake-ups' | 'moments' | 'outcomes' | 'failures' | 'load' | 'stops' | 'sessions';

/** One thing that every execution engine must do. */
export interface EngineCase {
  readonly group: EngineGroup;
  /** No two cases have one name. */
  readonly name: string;
  /** What the engine must be able to do. */
  readonly needs?: 'clock' | undefined;
  /** Rejects when the engine does not do it. */
  readonly run: (createEngine: CreateEngine, abilities?: EngineAbilities) => Promise<void>;
}

/** A case before it is known which group it belongs to. */
export type UngroupedEngineCase = Omit<EngineCase, 'group'>;

/** What a case works with. */
export interface EngineContext {
  /** Who serves is made with `serve`. */
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  readonly clock: EngineClock;
  /** Milliseconds to a moment that is worth waiting for. */
  readonly soon: number;
  /** When a session was looked at, or any session, in order. */
  readonly looks: (sessionId?: string) => readonly Look[];
  /** Serves with an advance that is written down; default: every session is suspended. */
  readonly serve: (act?: Act, concurrency?: number) => Promise<EngineWorker>;
  /** What an advance may wait for; the end of the case opens it. */
  readonly gate: () => PromiseWithResolvers<void>;
  /** Resolves when it holds. */
  readonly until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  /** Resolves when the promise does, which must be soon. */
  readonly ended: <T>(what: string, promise: Promise<T>) => Promise<T>;
  /** Resolves when an engine may have got on. */
  readonly turn: () => Promise<void>;
  /** Resolves when what was to happen by itself has happened. */
  readonly quiet: () => Promise<void>;
}

const TURNS_FOR_WHAT_MUST = 500;
const TURNS_FOR_WHAT_MUST_NOT = 25;
const TURNS_TILL_SOON = 40;

/** A case that begins with an engine that nobody serves, and ends with its stop. */
export function engineCase(
  name: string,
  act: (context: EngineContext) => Promise<void>,
  { needs }: Pick<EngineCase, 'needs'> = {},
): UngroupedEngineCase {
  return {
    name,
    ...(needs && { needs }),
    async run(createEngine, abilities = {}) {
      const clock = abilities.clock ? movedClock() : machineClock;
      const { engine, close } = await createEngine(clock);
      const stage = new Stage(engine, clock, abilities);
      try {
        await act(stage.context);
        stage.assertSound();
      } finally {
        await stage.clear();
        await close();
      }
    },
  };
}

/** What goes on in a case. */
class Stage {
  readonly context: EngineContext;
  private readonly advances: RecordedAdvances;
  private readonly turnMilliseconds: number;
  private readonly served: EngineWorker[] = [];
  private readonly gates: PromiseWithResolvers<void>[] = [];

  constructor(engine: ExecutionEngine, clock: EngineClock, abilities: EngineAbilities) {
    this.turnMilliseconds = abilities.turnMilliseconds ?? 0;
    this.advances = new RecordedAdvances(clock);
    const { advances } = this;
    this.context = {
      engine: { wake: (...args) => this.ended('a wake-up is kept', engine.wake(...args)) },
      clock,
      soon: abilities.clock ? 60_000 : TURNS_TILL_SOON * Math.max(1, this.turnMilliseconds),
      looks: (sessionId) => (sessionId === undefined ? advances.looks : advances.of(sessionId)),
      serve: async (act = async () => SUSPENDED, concurrency) => {
        const served = await this.ended('it serves', engine.serve(advances.by(act), { concurrency }));
        this.served.push(served);
        return served;
      },
      gate: () => this.gate(),
      until: (what, holds) => this.until(what, holds),
      ended: (what, promise) => this.ended(what, promise),
      turn: () => this.turn(),
      quiet: () => this.quiet(),
    };
  }

  /** What holds in every case. */
  assertSound(): void {
    assert.deepEqual(this.advances.overlaps, [], 'Sessions were worked on twice at one time.');
  }

  /** Ends what goes on, also in an engine that does not end by itself. */
  async clear(): Promise<void> {
    for (const { resolve } of this.gates) resolve();
    const stops = Promise.allSettled(this.served.map((served) => served.stop()));
    await Promise.race([stops, this.quiet()]);
  }

  private gate(): PromiseWithResolvers<void> {
    const gate = Promise.withResolvers<void>();
    this.gates.push(gate);
    return gate;
  }

  private turn(): Promise<void> {
    return this.turnMilliseconds > 0 ? setTimeout(this.turnMilliseconds) : setImmediate();
  }

  private async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < TURNS_FOR_WHAT_MUST; turn++) {
      if (await holds()) return;
      await this.turn();
    }
    assert.fail(`It did not happen: ${what}.`);
  }

  private async ended<T>(what: string, promise: Promise<T>): Promise<T> {
    let hasEnded = false;
    const tooLong = this.until(what, () => hasEnded).then(() => promise);
    return Promise.race([promise, tooLong]).finally(() => {
      hasEnded = true;
    });
  }

  private async quiet(): Promise<void> {
    for (let turn = 0; turn < TURNS_FOR_WHAT_MUST_NOT; turn++) await this.turn();
  }
}
