import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/agent.ts';
import type { ParentPlan } from '../../src/engine/parent.ts';
import { poisonPlan } from '../poison-sessions.ts';
import { randomFrom } from '../random.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { World } from '../world.ts';
import { Crew } from './support/crew.ts';
import { Disturbances } from './support/disturbances.ts';
import { engineWorldOf, SETTINGS, untilOver, verdictOn } from './support/engine-world.ts';
import { parentProblems } from './support/parent-problems.ts';
import { randomParent, randomPlan } from './support/soak-plans.ts';
import { SEED } from '../effort.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 6);
const CREW = 3;
/** The processes that a poison session may kill. Random kills must not add up to it. */
const MAX_ATTEMPTS = 6;
/** A poison session takes half a minute, which the short form does not have. */
const SECONDS_FOR_POISON = 60;

/** The sessions that a soak has begun. */
class Begun {
  readonly plans: Plan[] = [];
  readonly parents: ParentPlan[] = [];
  readonly poisons: Plan[] = [];
  /** The sessions that begin now. While the queue is down, their wake-ups wait. */
  private readonly beginning: Promise<void>[] = [];
  private readonly world: World;
  private readonly random: (below: number) => number;

  constructor(world: World, random: (below: number) => number) {
    this.world = world;
    this.random = random;
  }

  get count(): number {
    const children = this.parents.flatMap((plan) => plan.children).length;
    return this.plans.length + this.parents.length + children + this.poisons.length;
  }

  begin(): void {
    const { random, parents, plans } = this;
    const plan =
      random(6) === 0
        ? randomParent(`parent-${parents.length}`, random)
        : randomPlan(`session-${plans.length}`, random);
    if ('children' in plan) parents.push(plan);
    else plans.push(plan);
    this.beginning.push(this.world.begin(plan));
  }

  beginPoison(): void {
    const plan = poisonPlan(`poison-${this.poisons.length}`);
    this.poisons.push(plan);
    this.beginning.push(this.world.begin(plan));
  }

  /** Waits until all sessions have begun. */
  async end(): Promise<void> {
    await Promise.all(this.beginning);
  }

  /** Returns the problems of the sessions that have ended. */
  async problems(): Promise<readonly string[]> {
    const { world, plans, parents, poisons } = this;
    const children = parents.flatMap((plan) => plan.children);
    const { problems } = await verdictOn(world, [...plans, ...children]);
    const ofParents = await Promise.all(parents.map((plan) => parentProblems(world, plan)));
    const ends = await Promise.all(
      poisons.map(async ({ sessionId }) => (await world.load(sessionId)).state.status),
    );
    return [
      ...problems,
      ...ofParents.flat(),
      ...ends.filter((end) => end !== 'failed').map((end) => `poison is ${end}`),
    ];
  }
}

/** Begins sessions, and disturbs the work on them, for a time. */
async function work(
  begun: Begun,
  disturbances: Disturbances,
  random: (below: number) => number,
): Promise<void> {
  const endsAt = Date.now() + 1_000 * SECONDS;
  const rounds = [
    { act: () => begun.begin(), pause: () => 200 + random(1_000) },
    { act: () => disturbances.disturb(), pause: () => 300 + random(2_000) },
    ...(SECONDS < SECONDS_FOR_POISON
      ? []
      : [{ act: () => begun.beginPoison(), pause: () => 1_000 * SECONDS_FOR_POISON }]),
  ];
  await Promise.all(
    rounds.map(async (round) => {
      while (Date.now() < endsAt) {
        round.act();
        await pause(Math.min(round.pause(), Math.max(endsAt - Date.now(), 0)));
      }
    }),
  );
}

/** Lets people decide until the signal aborts, also while the queue is down. */
async function attend({ people }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await people.attend();
    await pause(100);
  }
}

/** Returns the sessions that have not ended, with their last entries in the journal. */
async function openSessions({ runtime, journal }: World): Promise<readonly string[]> {
  const entries = journal.readBySession();
  const open: string[] = [];
  for (const [sessionId, known] of entries) {
    const { state } = await runtime.get(sessionId);
    if (state.execution?.isTerminal) continue;
    const last = known.slice(-5).map((entry) => JSON.stringify(entry));
    open.push(`${sessionId} is ${state.status}, ${JSON.stringify(state.execution?.waiting)}`, ...last);
  }
  return [...open, `at ${Date.now()}`];
}

test(`a soak of ${SECONDS} s: every session ends, with the right history (SEED=${SEED})`, async () => {
  const { world, server } = await engineWorldOf('redis');
  const random = randomFrom(SEED);
  const outageFile = join(temporaryFolder(), 'outage');
  const crew = new Crew(world, CREW, { ...SETTINGS, sweepSeconds: 5, maxAttempts: MAX_ATTEMPTS, outageFile });
  const disturbances = new Disturbances({ crew, crewSize: CREW, server, outageFile, random });
  const begun = new Begun(world, random);
  const leaving = new AbortController();
  const attending = attend(world, leaving.signal);
  await work(begun, disturbances, random);
  leaving.abort();
  await Promise.all([attending, begun.end(), disturbances.end()]);
  const calmAt = Date.now();
  await untilOver(world).catch(async (error: unknown) => {
    throw new Error((await openSessions(world)).join('\n'), { cause: error });
  });
  const numbers = {
    sessions: begun.count,
    poisons: begun.poisons.length,
    ...disturbances.counts,
    deaths: crew.deaths,
  };
  console.log(`SEED=${SEED}, ${SECONDS} s:`, { ...numbers, overAfter: `${Date.now() - calmAt} ms` });
  expect(await crew.leave()).toEqual([]);
  expect(await begun.problems()).toEqual([]);
});
