import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { mustBe, type OptionChecks } from '@holdfast/core/engine';

/** The abilities of a harness that say how long its cases wait. */
export interface WaitTimes {
  /**
   * The approximate time in milliseconds from a call to the event that it causes. Cases wait 25 times as long to see that
   * an event does not happen. The default is 0, for a subject in this process: then cases wait for turns of the event loop.
   */
  readonly turnMilliseconds?: number | undefined;
  /**
   * The seconds for which cases wait for an expected event before they fail. They wait for at least 500 turns in any case.
   * The default is 20, because a busy machine delays events; only a case that fails takes so long. It is 0 for turns of the
   * event loop.
   */
  readonly waitSeconds?: number | undefined;
}

/** The checks of these abilities. */
export const waitChecks: OptionChecks<WaitTimes> = {
  turnMilliseconds: mustBe.number(0),
  waitSeconds: mustBe.number(0),
};

const TURNS_FOR_WHAT_MUST = 500;
const TURNS_FOR_WHAT_MUST_NOT = 25;
const DEFAULT_WAIT_SECONDS = 20;

/** Waits for events, or to see that an event does not happen. */
export class Waiting {
  readonly turnMilliseconds: number;
  private readonly waitMilliseconds: number;

  /** `shortestTurn` is the shortest turn in milliseconds that the case can have. */
  constructor({ turnMilliseconds = 0, waitSeconds }: WaitTimes, shortestTurn: number) {
    this.turnMilliseconds = Math.max(turnMilliseconds, shortestTurn);
    this.waitMilliseconds = 1_000 * (waitSeconds ?? (this.turnMilliseconds > 0 ? DEFAULT_WAIT_SECONDS : 0));
  }

  /** Resolves after one turn, in which the subject of the case can make progress. */
  turn(): Promise<void> {
    return this.turnMilliseconds > 0 ? setTimeout(this.turnMilliseconds) : setImmediate();
  }

  /** Resolves when `holds` returns true. Fails after a long time, with `what` in its message. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + this.waitMilliseconds;
    for (let turn = 0; turn < TURNS_FOR_WHAT_MUST || performance.now() < end; turn++) {
      if (await holds()) return;
      await this.turn();
    }
    assert.fail(`Expected, but did not happen: ${what}.`);
  }

  /** Resolves after the time in which everything must have happened that would happen. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < TURNS_FOR_WHAT_MUST_NOT; turn++) await this.turn();
  }
}
