import assert from 'node:assert/strict';
import type { AgentSession, AgentState } from '@holdfast/core';
import { nextStep, stateAfterSteps, stateInStep } from '../../src/store/case/execution-states.ts';
import { isThorough } from '../run/red-cases.ts';
import { sampleMessages } from '../../src/store/case/sample-messages.ts';
import {
  newSession,
  START,
  testClock,
  type SessionStoreHarness,
  type SetBack,
  type StoreAbilities,
  type TestedStore,
} from '../../src/store/case/store-case.ts';

/** The number of sessions that stay as bases. */
const BASES = 8;
/** A walk has few messages, so that edits meet what bases know. */
const MOST_MESSAGES = 30;

/** A random walk, which is the same for the same seed. */
export interface BaseWalk {
  readonly seed: number;
  readonly steps: number;
}

/** A store, another one on the same storage, whose sessions are no bases of the first, and a way back. */
interface WalkedStores extends Pick<StoreAbilities, 'remember'> {
  readonly store: TestedStore;
  readonly other: TestedStore | undefined;
}

type Below = (below: number) => number;

const section = (state: AgentState, name: string, messages: ReturnType<typeof sampleMessages>): AgentState =>
  state.withMessageStore(state.store.withSection(name, messages), START);

/** The changes of a state, between two saves. */
const CHANGES: readonly ((state: AgentState, pick: Below) => AgentState)[] = [
  (state, pick) => appended(state, 1 + pick(3), pick),
  (state, pick) => appended(state, 1 + pick(3), pick),
  (state, pick) => {
    const all = state.messages.toArray();
    const at = pick(all.length + 1);
    return section(state, 'messages', [...all.slice(0, at), ...fresh(1, pick), ...all.slice(at + 1)]);
  },
  (state, pick) =>
    section(state, 'messages', state.messages.toArray().slice(0, pick(state.messages.length + 1))),
  (state, pick) => {
    const all = state.messages.toArray();
    return section(state, 'messages', [...all.slice(0, pick(all.length + 1)), ...fresh(4, pick)]);
  },
  (state, pick) =>
    section(section(state, 'summary', fresh(1, pick)), 'messages', state.messages.toArray().slice(-pick(4))),
  (state, pick) =>
    pick(2) === 0
      ? state.withMessageStore(state.store.withoutSection('summary'), START)
      : appended(state, 1, pick),
  (state, pick) => state.withMetadata('mood', pick(5), START),
  (state, pick) => state.withSystemPrompt(pick(3) === 0 ? undefined : `Be ${pick(9)}.`, START),
  (state, pick) => state.withLlmConfig(pick(3) === 0 ? undefined : { model: `tester-${pick(3)}` }, START),
  (state) => (state.currentStep ? state.withCurrentStepCompleted(START) : nextStep(idle(state))),
  (state) => (state.currentStep ? state : nextStep(idle(state))),
  (state) => stateInStep(withoutExecution(state)),
  (state) => stateAfterSteps(withoutExecution(state)),
  (state) => state.forNextExecution(START),
];

const withoutExecution = (state: AgentState): AgentState => state.forNextExecution(START);
const idle = (state: AgentState): AgentState => (state.hasActiveExecution ? state : withoutExecution(state));

let texts = 0;
/** Messages that no session has. */
function fresh(count: number, pick: Below): ReturnType<typeof sampleMessages> {
  return sampleMessages(count, pick(40), `of ${++texts}`);
}

function appended(state: AgentState, count: number, pick: Below): AgentState {
  return section(state, 'messages', [
    ...state.messages.toArray().slice(-MOST_MESSAGES),
    ...fresh(count, pick),
  ]);
}

/**
 * Saves, forks, truncates, re-creates and sets back a session, and reads it after each step with sessions that the store
 * returned at any time before: each read gives what a read without a base gives, and so does a save on top of it.
 */
export async function walkWithBases(
  { create, reopen, remember }: Pick<SessionStoreHarness, 'create' | 'reopen' | 'remember'>,
  { seed, steps }: BaseWalk,
): Promise<void> {
  const clock = testClock();
  const [first, second] = [await create(clock), await reopen?.(clock)];
  const walker = new Walker({ store: first.store, other: second?.store, remember }, seed);
  for (let step = 0; step < steps; step++) {
    try {
      await walker.next();
    } catch (cause) {
      throw new Error(`Step ${step} of the walk with the seed ${seed} failed.`, { cause });
    }
  }
  await second?.close();
  await first.close();
}

/** The number of steps of a walk: with `EFFORT=2`, 20,000. */
export function stepsOfWalk(steps: number): number {
  return isThorough ? 20_000 : steps;
}

const ID = 'a';
const FORK = 'b';

class Walker {
  private readonly stores: WalkedStores;
  private readonly pick: Below;
  private bases: readonly AgentSession[] = [];
  private goBack: SetBack | undefined;

  constructor(stores: WalkedStores, seed: number) {
    this.stores = stores;
    this.pick = randomFrom(seed);
  }

  async next(): Promise<void> {
    const { store } = this.stores;
    const session = await store.load(ID);
    if (session === undefined) this.keep(await store.create(newSession(ID)));
    else await this.move(session);
    await this.readWithBases(ID);
  }

  private async move(session: AgentSession): Promise<void> {
    const { pick } = this;
    const { store, remember } = this.stores;
    switch (pick(24)) {
      case 0:
        await store.delete(ID);
        if (pick(2) === 0) this.keep(await store.create(newSession(ID, { state: session.state })));
        return;
      case 1:
        await store.delete(FORK);
        this.keep(await store.create(newSession(FORK, { state: session.state })));
        return;
      case 2:
        this.goBack = await remember?.();
        return;
      case 3:
        await this.goBack?.();
        this.goBack = undefined;
        return;
      case 4:
        this.keep((await this.stores.other?.load(ID)) ?? session);
        return;
      case 5:
        return this.claimWithBase();
      default:
        return this.save(pick(3) === 0 ? session : await this.loaded(this.base(), session));
    }
  }

  /** Saves a change on top of a session, and sometimes without a base. */
  private async save(session: AgentSession): Promise<void> {
    const { store } = this.stores;
    const change = CHANGES[this.pick(CHANGES.length)];
    const next = session.withState(change ? change(session.state, this.pick) : session.state);
    const saved = await store.save(next, this.pick(8) === 0 ? {} : { base: session });
    assertSame(await store.load(ID), saved);
    this.keep(saved);
  }

  private async claimWithBase(): Promise<void> {
    const { store } = this.stores;
    const { session, claim } = await store.claim(ID, {
      workerId: 'Ada',
      leaseSeconds: 60,
      base: this.base(),
    });
    assertSame(await store.load(ID), session);
    await store.release(claim);
    this.keep(session);
  }

  private async readWithBases(sessionId: string): Promise<void> {
    const full = await this.stores.store.load(sessionId);
    for (let count = 0; count < 2; count++) {
      if (full) this.keep(await this.loaded(this.base(), full));
    }
  }

  /** Loads the session with a base, and expects the one that was loaded without. */
  private async loaded(base: AgentSession | undefined, full: AgentSession): Promise<AgentSession> {
    const loaded = await this.stores.store.load(full.sessionId, { base });
    assertSame(loaded, full);
    assert(loaded);
    return loaded;
  }

  private base(): AgentSession | undefined {
    return this.bases[this.pick(this.bases.length)];
  }

  /** Keeps a session as a base, mostly in the place of another. */
  private keep(session: AgentSession): void {
    const bases = this.bases.length < BASES ? this.bases : this.bases.toSpliced(this.pick(BASES), 1);
    this.bases = this.pick(3) === 0 && bases.length > 0 ? this.bases : [...bases, session];
  }
}

function assertSame(actual: AgentSession | undefined, expected: AgentSession | undefined): void {
  assert.deepEqual(actual?.toJSON(), expected?.toJSON());
}

/** Returns a source of random numbers below a limit. Equal seeds give equal numbers. */
function randomFrom(seed: number): Below {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return below === 0 ? 0 : (mixed >>> 0) % below;
  };
}
