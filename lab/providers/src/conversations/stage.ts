import type { AgentState, Clock, UserPart } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { manualClock } from '@holdfast/core/testing';
import type { StrictProfile } from '../strict/index.ts';
import type { StrictStep } from '../strict/server.ts';
import { oddStep } from './answers.ts';
import type { Arena } from './arena.ts';
import { Dice } from './dice.ts';
import { failureOf, refusalsIn, type Finding } from './findings.ts';
import { oddRelease, type Release } from './release.ts';
import { oddFile, oddText } from './values.ts';

/** The result of a conversation. */
export interface Played {
  readonly requests: number;
  readonly findings: readonly Finding[];
}

/** The answers after which a run gets no more calls. */
const MAX_CALLING_ANSWERS = 4;

/** The parts that all kinds of conversations share: the choices, the servers' answers, the release, and the findings. */
export class Stage {
  readonly dice: Dice;
  readonly clock: Clock = manualClock(1_800_000_000_000);
  /** The server that the conversation begins with, and one that it may switch to. */
  readonly profiles: readonly [StrictProfile, StrictProfile];
  release: Release;
  /** Called before each answer. */
  beforeAnswer: () => void = () => undefined;
  private readonly seed: number;
  private readonly arena: Arena;
  private readonly driver: Driver;
  private readonly findings: Finding[] = [];
  private notedExecution: AgentState['executionId'];
  private requests = 0;
  private answers = 0;
  private hasBrokenAnswer = false;

  constructor(arena: Arena, driver: Driver, seed: number, profile: StrictProfile) {
    this.arena = arena;
    this.driver = driver;
    this.seed = seed;
    this.dice = new Dice(seed);
    this.profiles = [profile, this.dice.of(arena.profiles as [StrictProfile, ...StrictProfile[]])];
    this.release = this.nextRelease();
    arena.answerer = (answering) => this.answer(answering);
  }

  /** A deploy. */
  nextRelease(): Release {
    const { driver, clock, profiles } = this;
    return oddRelease(this.dice, { driver, clock, profiles });
  }

  /** The words and files of a user. */
  words(): readonly UserPart[] {
    return this.dice.list(1, 3, () =>
      this.dice.chance(0.25) ? oddFile(this.dice) : { type: 'text', text: oddText(this.dice) },
    );
  }

  /** Notes the requests of the run that ended with this state. */
  note(state: AgentState): void {
    const requests = this.arena.takeRequests();
    for (const list of requests.values()) this.requests += list.length;
    const refusals = refusalsIn(requests, this.seed);
    this.findings.push(...refusals);
    const isNew = requests.size > 0 || state.executionId !== this.notedExecution;
    const isScripted = this.hasBrokenAnswer || refusals.some(({ isHealed }) => !isHealed);
    if (isNew && !isScripted) this.findings.push(...failureOf(state, this.seed));
    this.notedExecution = state.executionId;
    this.answers = 0;
  }

  /** Begins a turn of the user. */
  beginTurn(): void {
    this.hasBrokenAnswer = false;
  }

  played(): Played {
    return { requests: this.requests, findings: this.findings };
  }

  private answer(profile: StrictProfile): StrictStep {
    this.beforeAnswer();
    this.answers += 1;
    const isLast = this.answers > MAX_CALLING_ANSWERS;
    const step = oddStep(this.dice, { profile, tools: this.release.tools, isLast });
    if ('break' in step) this.hasBrokenAnswer = true;
    return step;
  }
}
