import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { mustBe, optionsCheck } from '@holdfast/core/engine';
import type { Clock } from '@holdfast/core';
import type { ExecutionEngine, EngineWorker } from '@holdfast/core/engine';
import { harnessChecks } from '../harness.ts';
import type { Closable, Harness } from '../harness.ts';
import type { EngineClock } from './engine-clock.ts';
import { machineClock, movedClock } from './engine-clock.ts';
import { SUSPENDED, RecordedAdvances } from './recorded-advances.ts';
import type { Act, Look } from './recorded-advances.ts';

/** An engine, and the function that removes it. The case has stopped its workers before. */
export interface EngineUnderTest extends Closable {
  readonly engine: ExecutionEngine;
}

/** Creates an engine without wake-ups. The engine must use the clock if it has the ability `clock`. */
export type CreateEngine = (clock: Clock) => Promise<EngineUnderTest>;

/** The abilities of a harness for engines. Cases that need a missing ability are skipped. */
export interface EngineAbilities {
  /**
   * The engine takes the time and its timers from the clock that `create` receives. Without this ability, cases
   * wait for real time.
   */
  readonly clock?: boolean | undefined;
  /**
   * The approximate time in milliseconds from a wake-up to the start of the advance. Cases wait up to 500 times as long
   * for an expected event, and 25 times as long to see that an event does not happen. The default is 0, for an engine
   * that works in this process: then cases wait for turns of the event loop.
   */
  readonly turnMilliseconds?: number | undefined;
}

/**
 * Creates the engines of the cases, and declares their abilities. The default of `limitSeconds` is 60 seconds and 1,000
 * times `turnMilliseconds`.
 */
export interface EngineHarness extends Harness<CreateEngine>, EngineAbilities {}

export const checkEngineHarness = optionsCheck<EngineHarness>('the harness of an engine', {
  ...harnessChecks,
  clock: mustBe.boolean,
  turnMilliseconds: mustBe.number(0),
});

/** The part of the contract that a case belongs to. */
export type EngineGroup =
  | 'wake-ups'
  | 'moments'
  | 'outcomes'
  | 'failures'
  | 'load'
  | 'lanes'
  | 'stops'
  | 'sessions';

/** A requirement on every execution engine. */
export interface EngineCase {
  readonly group: EngineGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The ability that the case needs. */
  readonly needs?: 'clock' | undefined;
  /** Runs the case. Rejects when the engine does not meet the requirement. */
  readonly run: (createEngine: CreateEngine, abilities?: EngineAbilities) => Promise<void>;
}

/** An error that the engine passed to `onError`. */
interface ReceivedError {
  readonly sessionId: string;
  readonly error: unknown;
}

/** A case without its group. */
export type UngroupedEngineCase = Omit<EngineCase, 'group'>;

/** The environment of a case. */
export interface EngineContext {
  /** The engine. Cases start its workers with `serve`. */
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  readonly clock: EngineClock;
  /** A delay in milliseconds that is long enough to observe and short enough to wait for. */
  readonly soon: number;
  /** The advances of a session, or of all sessions, in order. */
  readonly looks: (sessionId?: string) => readonly Look[];
  /** Starts an engine worker with a recorded advance. By default the advance suspends every session. */
  readonly serve: (act?: Act, concurrency?: number) => Promise<EngineWorker>;
  /** The errors that the engine passed to `onError`, in order. */
  readonly errors: () => readonly ReceivedError[];
  /** Creates a promise that an advance can wait for. The end of the case resolves it. */
  readonly gate: () => PromiseWithResolvers<void>;
  /** Resolves when `holds` returns true. Fails after a long time, with `what` in its message. */
  readonly until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  /** Resolves with the promise. Fails if the promise takes too long. */
  readonly ended: <T>(what: string, promise: Promise<T>) => Promise<T>;
  /** Resolves after one turn, in which an engine can make progress. */
  readonly turn: () => Promise<void>;
  /** Resolves after the time in which an engine must have done everything that it would do by itself. */
  readonly quiet: () => Promise<void>;
}

const TURNS_FOR_WHAT_MUST = 500;
const TURNS_FOR_WHAT_MUST_NOT = 25;
const TURNS_TILL_SOON = 40;

/** Creates a case. The case begins with an engine without workers, and ends by stopping them. */
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

/** The state of one run of a case. */
class Stage {
  readonly context: EngineContext;
  private readonly advances: RecordedAdvances;
  private readonly turnMilliseconds: number;
  private readonly served: EngineWorker[] = [];
  private readonly gates: PromiseWithResolvers<void>[] = [];
  private readonly errors: ReceivedError[] = [];

  constructor(engine: ExecutionEngine, clock: EngineClock, abilities: EngineAbilities) {
    this.turnMilliseconds = abilities.turnMilliseconds ?? 0;
    this.advances = new RecordedAdvances(clock);
    const { advances } = this;
    const onError = (error: unknown, sessionId: string): void => void this.errors.push({ sessionId, error });
    this.context = {
      engine: { wake: (...args) => this.ended('wake resolves', engine.wake(...args)) },
      clock,
      soon: abilities.clock ? 60_000 : TURNS_TILL_SOON * Math.max(1, this.turnMilliseconds),
      looks: (sessionId) => (sessionId === undefined ? advances.looks : advances.of(sessionId)),
      serve: async (act = async () => SUSPENDED, concurrency) => {
        const served = await this.ended(
          'serve resolves',
          engine.serve(advances.by(act), { concurrency, onError }),
        );
        this.served.push(served);
        return served;
      },
      errors: () => this.errors,
      gate: () => this.gate(),
      until: (what, holds) => this.until(what, holds),
      ended: (what, promise) => this.ended(what, promise),
      turn: () => this.turn(),
      quiet: () => this.quiet(),
    };
  }

  /** Asserts the requirements that hold in every case. */
  assertSound(): void {
    assert.deepEqual(this.advances.overlaps, [], 'The engine advanced sessions twice at the same time.');
  }

  /** Stops the engine workers. It does not wait for an engine that does not stop. */
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
    assert.fail(`Expected, but did not happen: ${what}.`);
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
