import { mustBe, optionsCheck, type OptionChecks } from '../../../arguments.ts';
import { systemClock } from '../../../clock.ts';
import { ADVICE_OF_ENGINES } from '../advance-check.ts';
import { GROUP_CONCURRENCY, groupLimits, type GroupConcurrency } from './group-limits.ts';
import { checkLanes, type LaneLimits } from './lane-turns.ts';
import { MemoryWakeUps } from './memory-wake-ups.ts';
import { QueueEngine, type QueueEngineOptions } from './queue-engine.ts';

/** The options of `InProcessEngine`. */
export interface InProcessEngineOptions extends QueueEngineOptions {
  /** Limits of lanes, by the name of the lane, as in `{ openai: { concurrency: 4 } }`. */
  readonly lanes?: Readonly<Record<string, LaneLimits>> | undefined;
  /**
   * How many sessions of one group are worked on at the same time in this process, over all lanes: `5`, or
   * `(owner) => (isPaying(owner) ? 20 : 2)`. Groups are owners by default. Default: no limit.
   */
  readonly groupConcurrency?: GroupConcurrency | undefined;
}

export const IN_PROCESS_CHECKS: OptionChecks<InProcessEngineOptions> = {
  clock: mustBe.clock,
  lanes: mustBe.object,
  groupConcurrency: GROUP_CONCURRENCY,
  stepsPerTurn: mustBe.wholeNumber(1),
};

// A check inside of a function is not in the bundle of a program without an engine.
const checkOptions = (options: InProcessEngineOptions): InProcessEngineOptions =>
  optionsCheck('InProcessEngine', IN_PROCESS_CHECKS, ADVICE_OF_ENGINES)(options);

/**
 * Works on sessions in this process, several at once. It is the reference for the contract of engines. It holds wake-ups
 * in memory, so call `sweep` after a start.
 */
export class InProcessEngine extends QueueEngine {
  /** The seconds between two sweeps: a message of another process waits for the next one. */
  readonly sweepSeconds: number = 1;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(options: InProcessEngineOptions = {}) {
    const { clock = systemClock, lanes = {}, groupConcurrency, stepsPerTurn } = checkOptions(options);
    checkLanes(lanes);
    super(new MemoryWakeUps(clock, lanes, groupLimits(groupConcurrency)), { clock, stepsPerTurn });
  }
}
