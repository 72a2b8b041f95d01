import type { AgentState, UserPart } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { manualClock, type ManualClock } from '@holdfast/core/testing';
import type { StrictProfile } from '../strict/index.ts';
import type { StrictStep } from '../strict/server.ts';
import { oddStep } from './answers.ts';
import type { Arena } from './arena.ts';
import { Dice } from './dice.ts';
import { failureOf, refusalsIn, repairsIn, type Finding } from './findings.ts';
import { kindsOfStep, kindsOfWords, type Kind } from './kinds.ts';
import { oddRelease, settingsOf, type Release } from './release.ts';
import { deployed, oddDeclarations, type Declarations } from './tools.ts';
import { oddFile, oddText } from './values.ts';

/** The result of a conversation. */
export interface Played {
  readonly requests: number;
  readonly findings: readonly Finding[];
  /** The kinds of content of the conversation, once for each time that one occurred. */
  readonly kinds: readonly Kind[];
}

/** The answers after which a run gets no more calls. */
const MAX_CALLING_ANSWERS = 4;

/** The parts that all kinds of conversations share: the choices, the servers' answers, the release, and the findings. */
export class Stage {
  readonly dice: Dice;
  readonly clock: ManualClock = manualClock(1_800_000_000_000);
  /** The server that the conversation begins with, and one that it may switch to. */
  readonly profiles: readonly [StrictProfile, StrictProfile];
  release: Release;
  /** Called before each answer. */
  beforeAnswer: () => void = () => undefined;
  private readonly seed: number;
  private readonly arena: Arena;
  private readonly driver: Driver;
  private readonly findings: Finding[] = [];
  private readonly kinds: Kind[] = [];
  /** The state that was noted last. */
  private noted: AgentState | undefined;
  private requests = 0;
  private answers = 0;
  private hasBrokenAnswer = false;

  constructor(arena: Arena, driver: Driver, seed: number, profile: StrictProfile) {
    this.arena = arena;
    this.driver = driver;
    this.seed = seed;
    this.dice = new Dice(seed);
    this.profiles = [profile, this.dice.of(arena.profiles as [StrictProfile, ...StrictProfile[]])];
    this.release = this.newRelease(oddDeclarations(this.dice));
    arena.answerer = (answering) => this.answer(answering);
  }

  /** Replaces the release by another one. */
  deploy(): void {
    const { kind, tools } = deployed(this.dice, this.release.declarations);
    this.saw(kind);
    this.release = this.newRelease(tools);
  }

  /** Counts something that the conversation contains. */
  saw(...kinds: readonly Kind[]): void {
    this.kinds.push(...kinds);
  }

  /** The words and files of a user. */
  words(): readonly UserPart[] {
    const words = this.dice.list(1, 3, (): UserPart =>
      this.dice.chance(0.25) ? oddFile(this.dice) : { type: 'text', text: oddText(this.dice) },
    );
    const file = words.find(({ type }) => type === 'file');
    const all = file && this.dice.chance(0.3) ? [...words, file] : words;
    this.saw(...kindsOfWords(all));
    return all;
  }

  /** The settings of the other model. */
  otherModel({ llmConfig }: AgentState): ReturnType<typeof settingsOf> {
    const [first, second] = this.profiles;
    return settingsOf(llmConfig?.model === first.name ? second : first);
  }

  /** Notes the requests of the run that ended with this state. */
  note(state: AgentState): void {
    const requests = this.arena.takeRequests();
    for (const list of requests.values()) this.requests += list.length;
    const refusals = refusalsIn(requests, this.seed);
    const warnings = this.arena.warnings.splice(0);
    this.findings.push(...refusals, ...repairsIn(warnings, this.seed, this.profiles[0].name));
    const isNew = requests.size > 0 || state.executionId !== this.noted?.executionId;
    const isScripted = this.hasBrokenAnswer || refusals.some(({ isHealed }) => !isHealed);
    if (isNew && !isScripted) this.findings.push(...failureOf(state, this.seed));
    if (requests.size > 0) this.sawIn(state);
    this.noted = state;
    this.answers = 0;
  }

  /** Begins a turn of the user. */
  beginTurn(): void {
    this.hasBrokenAnswer = false;
  }

  played(): Played {
    const { requests, findings, kinds } = this;
    return { requests, findings, kinds };
  }

  private newRelease(declarations: Declarations): Release {
    const { dice, driver, clock, profiles } = this;
    return oddRelease({ dice, driver, clock, profiles, saw: (kind) => this.saw(kind) }, declarations);
  }

  /** Counts what a run shows only in its state. */
  private sawIn(state: AgentState): void {
    const { noted } = this;
    if (noted === undefined) return;
    if (state.llmConfig?.model !== noted.llmConfig?.model) {
      const isInside = state.executionId === noted.executionId;
      this.saw(isInside ? 'switch inside an execution' : 'switch of the model');
    }
    if (summaryOf(state) !== summaryOf(noted)) this.saw('summary');
  }

  private answer(profile: StrictProfile): StrictStep {
    this.beforeAnswer();
    this.answers += 1;
    const isLast = this.answers > MAX_CALLING_ANSWERS;
    const tools = this.release.declarations.map(({ name }) => name);
    const step = oddStep(this.dice, { profile, tools, isLast });
    this.saw(...kindsOfStep(step, tools));
    if ('break' in step) this.hasBrokenAnswer = true;
    return step;
  }
}

function summaryOf({ store }: AgentState): string | undefined {
  return store.section('summary').last?.id;
}
