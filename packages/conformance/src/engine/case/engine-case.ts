import assert from 'node:assert/strict';
import {
  mustBe,
  optionsCheck,
  type ExecutionEngine,
  type EngineWorker,
  type ServeOptions,
} from '@holdfast/core/engine';
import type { Clock, Instant } from '@holdfast/core';
import { harnessChecks, type Closable, type Harness } from '../../run/harness.ts';
import { waitChecks, Waiting, type WaitTimes } from '../../run/waiting.ts';
import { machineClock, movedClock, type EngineClock } from './engine-clock.ts';
import { SUSPENDED, RecordedAdvances, type Act, type Look } from './recorded-advances.ts';
import type { WorkerProcess } from './worker-messages.ts';
import { RemoteWorker } from './remote-worker.ts';

/** An engine, and the function that removes it. The case has stopped its workers before. */
export interface EngineUnderTest extends Closable {
  readonly engine: ExecutionEngine;
}

/** Creates an engine without wake-ups. The engine must use the clock if it has the ability `clock`. */
export type CreateEngine = (clock: Clock) => Promise<EngineUnderTest>;

/** The abilities of a harness for engines. Cases that need a missing ability are skipped. */
export interface EngineAbilities extends WaitTimes {
  /**
   * Creates another engine on the storage of the engine that `create` created last, as another process does. The
   * case may still use the first engine, or a worker of it, at the same time.
   */
  readonly reopen?: CreateEngine | undefined;
  /**
   * Starts a process that creates an engine on the storage of the engine that `create` created last, and passes
   * it to `runWorkerProcess`. `fork` of `node:child_process` returns such a process. Its cases use the clock of the
   * machine.
   */
  readonly processes?: (() => WorkerProcess | Promise<WorkerProcess>) | undefined;
  /**
   * The longest time in seconds from the death of a worker until another worker advances its sessions; default 30. The
   * cases of `processes` wait several times as long in real time, so create engines with short locks.
   */
  readonly lockSeconds?: number | undefined;
  /**
   * The engine takes the time and its timers from the clock that `create` receives. Without this ability, cases
   * wait for real time.
   */
  readonly clock?: boolean | undefined;
  /**
   * The approximate time in milliseconds from a wake-up to the start of the advance. Cases wait 25 times as long to see
   * that an event does not happen. The default is 0, for an engine that works in this process: then cases wait for turns
   * of the event loop. Cases of `reopen` have turns of at least 2 ms, and cases of `processes` of at least 10 ms.
   */
  readonly turnMilliseconds?: number | undefined;
}

/**
 * Creates the engines of the cases, and declares their abilities. The default of `limitSeconds` is 60 seconds,
 * plus 1,000 times `turnMilliseconds`, plus, with `processes`, 10 times `lockSeconds`.
 */
export interface EngineHarness extends Harness<CreateEngine>, EngineAbilities {}

export const checkEngineHarness = optionsCheck<EngineHarness>('the harness of an engine', {
  ...harnessChecks,
  ...waitChecks,
  clock: mustBe.boolean,
  lockSeconds: mustBe.number(0),
  processes: mustBe.function,
  reopen: mustBe.function,
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
  | 'sessions'
  | 'suspects'
  | 'reopening'
  | 'sharing'
  | 'processes';

/** An ability that a case can need. */
export type EngineAbility = 'clock' | 'reopen' | 'processes';

/** A requirement on every execution engine. */
export interface EngineCase {
  readonly group: EngineGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The ability that the case needs. */
  readonly needs?: EngineAbility | undefined;
  /** Runs the case. Rejects when the engine does not meet the requirement. */
  readonly run: (createEngine: CreateEngine, abilities?: EngineAbilities) => Promise<void>;
}

/** An error that the engine passed to `onError`. */
interface ReceivedError {
  readonly sessionId: string | undefined;
  readonly error: unknown;
}

/** A case without its group. */
export type UngroupedEngineCase = Omit<EngineCase, 'group'>;

/** An engine whose advances the case records. */
export interface RecordedEngine {
  /** The engine. Cases start its workers with `serve`. */
  readonly engine: Pick<ExecutionEngine, 'wake'>;
  /** Starts an engine worker with a recorded advance. By default the advance suspends every session. */
  readonly serve: (
    act?: Act,
    concurrency?: number,
    onError?: ServeOptions['onError'],
    isolated?: Act,
  ) => Promise<EngineWorker>;
}

/** The environment of a case. */
export interface EngineContext extends RecordedEngine {
  readonly clock: EngineClock;
  /** A delay in milliseconds that is long enough to observe and short enough to wait for. */
  readonly soon: number;
  /** The advances of a session, or of all sessions, in order. */
  readonly looks: (sessionId?: string) => readonly Look[];
  /** The time in milliseconds after which another worker has taken the sessions of a dead worker. */
  readonly lock: number;
  /** Opens another engine on the same storage. The case needs the ability `reopen`. */
  readonly reopen: () => Promise<RecordedEngine>;
  /** Starts a worker process with an engine on the same storage. The case needs the ability `processes`. */
  readonly startProcess: () => Promise<RemoteWorker>;
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

const TURNS_TILL_SOON = 40;

/** The shortest turn in milliseconds of a case with this ability: another engine needs time to see a wake-up. */
const SHORTEST_TURN: Readonly<Record<EngineAbility, number>> = { clock: 0, reopen: 2, processes: 10 };

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
      const clock = abilities.clock && needs !== 'processes' ? movedClock() : machineClock;
      const { engine, close } = await createEngine(clock);
      const stage = new Stage(engine, clock, abilities, needs);
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

/**
 * Advances the clock to an instant. Asserts that the engine advances the session then or later, and that it has
 * advanced the session at most `earlier` times before.
 */
export async function assertLooksAt(
  { clock, looks, until, quiet }: EngineContext,
  sessionId: string,
  at: Instant,
  earlier = 0,
): Promise<void> {
  await clock.pass(Math.max(0, at - clock.now() - 1));
  await quiet();
  await clock.pass(Math.max(0, at - clock.now()));
  const from = at - clock.earlyBy;
  const isLookedAt = (): boolean => looks(sessionId).some((look) => look.at >= from);
  await until(`"${sessionId}" is advanced at its instant`, isLookedAt);
  const before = looks(sessionId).filter((look) => look.at < from);
  assert(
    before.length <= earlier,
    `The engine advanced the session ${before.length} times before its instant.`,
  );
}

/** The state of one run of a case. */
class Stage {
  readonly context: EngineContext;
  private readonly clock: EngineClock;
  private readonly abilities: EngineAbilities;
  private readonly advances: RecordedAdvances;
  private readonly waiting: Waiting;
  private readonly served: EngineWorker[] = [];
  private readonly reopened: EngineUnderTest[] = [];
  private readonly processes: RemoteWorker[] = [];
  private readonly gates: PromiseWithResolvers<void>[] = [];
  private readonly errors: ReceivedError[] = [];

  constructor(
    engine: ExecutionEngine,
    clock: EngineClock,
    abilities: EngineAbilities,
    needs?: EngineAbility,
  ) {
    this.clock = clock;
    this.abilities = abilities;
    this.waiting = new Waiting(abilities, SHORTEST_TURN[needs ?? 'clock']);
    this.advances = new RecordedAdvances(clock);
    const { advances, waiting } = this;
    this.context = {
      ...this.recorded(engine),
      clock,
      soon: clock === machineClock ? TURNS_TILL_SOON * Math.max(1, waiting.turnMilliseconds) : 60_000,
      lock: (abilities.lockSeconds ?? 30) * 1_000,
      looks: (sessionId) => (sessionId === undefined ? advances.looks : advances.of(sessionId)),
      reopen: () => this.reopen(),
      startProcess: () => this.startProcess(),
      errors: () => this.errors,
      gate: () => this.gate(),
      until: (what, holds) => waiting.until(what, holds),
      ended: (what, promise) => this.ended(what, promise),
      turn: () => waiting.turn(),
      quiet: () => waiting.quiet(),
    };
  }

  /** Asserts the requirements that hold in every case. */
  assertSound(): void {
    assert.deepEqual(this.advances.overlaps, [], 'The engine advanced sessions twice at the same time.');
  }

  /** Stops the engine workers. It does not wait for an engine that does not stop. */
  async clear(): Promise<void> {
    for (const { resolve } of this.gates) resolve();
    for (const worker of this.processes) worker.kill();
    const stops = Promise.allSettled(this.served.map((served) => served.stop()));
    await Promise.race([stops, this.waiting.quiet()]);
    for (const { close } of this.reopened) await close();
  }

  private recorded(engine: ExecutionEngine): RecordedEngine {
    const record = (error: unknown, sessionId: string | undefined): void =>
      void this.errors.push({ sessionId, error });
    return {
      engine: { wake: (...args) => this.ended('wake resolves', engine.wake(...args)) },
      serve: async (act = async () => SUSPENDED, concurrency, onError = record, isolated) => {
        const options = { concurrency, onError, isolated: isolated && this.advances.by(isolated) };
        const served = await this.ended('serve resolves', engine.serve(this.advances.by(act), options));
        this.served.push(served);
        return served;
      },
    };
  }

  private async reopen(): Promise<RecordedEngine> {
    assert(this.abilities.reopen, 'The case needs the ability "reopen".');
    const reopened = await this.abilities.reopen(this.clock);
    this.reopened.push(reopened);
    return this.recorded(reopened.engine);
  }

  private async startProcess(): Promise<RemoteWorker> {
    assert(this.abilities.processes, 'The case needs the ability "processes".');
    const worker = new RemoteWorker(await this.abilities.processes(), this.advances);
    this.processes.push(worker);
    await worker.isReady;
    return worker;
  }

  private gate(): PromiseWithResolvers<void> {
    const gate = Promise.withResolvers<void>();
    this.gates.push(gate);
    return gate;
  }

  private async ended<T>(what: string, promise: Promise<T>): Promise<T> {
    let hasEnded = false;
    const tooLong = this.waiting.until(what, () => hasEnded).then(() => promise);
    return Promise.race([promise, tooLong]).finally(() => {
      hasEnded = true;
    });
  }
}
