import { isDeepStrictEqual } from 'node:util';
import { until } from 'test-servers';
import { describe, expect, test } from 'vitest';
import type { Plan } from '../src/agent.ts';
import { faultText, type Place } from '../src/faults.ts';
import type { Outage } from '../src/provider.ts';
import type { Protection } from '../src/removals.ts';
import { canonical, difference } from './canonical.ts';
import { problemsOf, type CheckName } from './checks.ts';
import { serverOfBlock, TESTED_STORES } from './servers.ts';
import { uninterrupted } from './uninterrupted.ts';
import { isFrozen, World } from './world.ts';
import { EFFORT } from './effort.ts';

const PLAN: Plan = { sessionId: 'one', kind: 'once', steps: 2, calls: 1 };
const LOST_REPLY = 'a lost reply to a save changes nothing';
const STARTED = 'a process without the claim starts no tool';
const LONG = { leaseSeconds: 30 };
/** The protections in which stores have a part. */
const OF_STORES: readonly Protection[] = ['claim', 'fence', 'operation-id'];
const DRIVE = ['drive', PLAN.sessionId];
/** The number of the save that stores the intent of the first call. */
const INTENT = 2;

const OUTAGE_OF: Partial<Record<Protection, Outage>> = { wait: 'quotaExceeded', fallback: 'overloaded' };

/** Lets faults happen to processes, which may lack a protection. Returns the problems beside those of the checks. */
type Scenario = (world: World, without: Protection | undefined) => Promise<readonly string[]>;

/** Each protection, the check that fails without it, and the scenario that shows it. */
const MISSED: readonly (readonly [Protection, CheckName | typeof LOST_REPLY, Scenario])[] = [
  ['claim', 'one process works under a claim', meet],
  ['fence', 'a process without the claim saves nothing', wakeInTheModelCall],
  ['intent', 'a tool that may run once runs once', dieAt('after-effect', 1)],
  ['claim-check', STARTED, wakeBeforeTheTool],
  ['operation-id', LOST_REPLY, loseAReply],
  ['wait', 'an execution that waits for a retry calls no model', dieAt('after-release', 1)],
  ['fallback', 'a fallback is called while it is in use, and then the own model', dieAt('before-effect', 2)],
];

describe.each(TESTED_STORES)('$name', (tested) => {
  const { name } = tested;
  const newLocation = serverOfBlock(tested);
  // With more effort, each store shows each protection. Otherwise the first store shows those of the runtime alone.
  const isWhole = EFFORT > 1 || tested === TESTED_STORES[0];
  const shown = MISSED.filter(([protection]) => isWhole || OF_STORES.includes(protection));

  test.each(shown)('without %s it shows that %s; with it, it does', async (protection, check, scenario) => {
    const play = async (without: Protection | undefined): Promise<readonly string[]> => {
      const world = await World.of(name, newLocation);
      await world.begin({ ...PLAN, outage: OUTAGE_OF[protection] });
      const problems = await scenario(world, without);
      const all = [...problems, ...problemsOf(world.journal.readBySession())];
      await world.close();
      return all;
    };
    expect(await play(undefined)).toEqual([]);
    expect(await play(protection)).toContainEqual(expect.stringContaining(`${check}: `));
  });
});

/** A second process comes while the first one is frozen with the claim. */
async function meet(world: World, without: Protection | undefined): Promise<readonly string[]> {
  const fault = faultText({ place: 'inference', nth: 1, act: 'freeze' });
  const first = world.start(DRIVE, { fault, without, ...LONG });
  await until('the first is frozen', () => isFrozen(first));
  const second = world.start(DRIVE, { without, ...LONG });
  await second.line();
  first.kill('SIGCONT');
  await Promise.all([first.ended, second.ended]);
  return [];
}

/** A process is frozen in the call of the model, and wakes when its successor is in the same call. */
async function wakeInTheModelCall(world: World, without: Protection | undefined): Promise<readonly string[]> {
  const fault = faultText({ place: 'inference', nth: 1, act: 'freeze' });
  const first = world.start(DRIVE, { fault, without });
  await until('the first is frozen', () => isFrozen(first));
  const second = world.start(DRIVE, { fault, without, leaseSeconds: 1 });
  await until('the second has taken over', () => isFrozen(second));
  first.kill('SIGCONT');
  await first.line();
  second.kill('SIGCONT');
  await Promise.all([first.ended, second.ended]);
  return [];
}

/** A process dies at a place, and another one comes. */
function dieAt(place: Place, nth: number): Scenario {
  return async (world, without) => {
    await world.run(DRIVE, { fault: faultText({ place, nth, act: 'kill' }), without });
    await world.run(DRIVE, { without });
    return [];
  };
}

/**
 * A process is frozen before the call of the tool, and wakes when its successor has finished. It has not checked its claim
 * yet, so it has no tool in flight.
 */
async function wakeBeforeTheTool(world: World, without: Protection | undefined): Promise<readonly string[]> {
  const fault = faultText({ place: 'after-save', nth: INTENT, act: 'freeze' });
  const first = world.start(DRIVE, { fault, without });
  await until('the first is frozen', () => isFrozen(first));
  await world.run(DRIVE, { without });
  first.kill('SIGCONT');
  await first.ended;
  const called = world.journal.read().filter(({ type, pid }) => type === 'called' && pid === first.pid);
  return called.map(({ call }) => `${STARTED}: call ${call} by the process that woke`);
}

/** The store does a save, and its reply is lost. */
async function loseAReply(world: World, without: Protection | undefined): Promise<readonly string[]> {
  await world.run(DRIVE, {
    fault: faultText({ place: 'after-save', nth: INTENT, act: 'lose-reply' }),
    without,
  });
  const sessions = [await world.load(PLAN.sessionId), await uninterrupted(PLAN)];
  const [found, wanted] = sessions.map((session) => canonical(session, new Set()));
  return isDeepStrictEqual(found, wanted) ? [] : [`${LOST_REPLY}: ${difference(found, wanted)}`];
}
