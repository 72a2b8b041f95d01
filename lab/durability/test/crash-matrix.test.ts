import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultText, type Fault, type Place } from '../src/faults.ts';
import {
  baselinesOf,
  cellsOf,
  combinations,
  groupsOf,
  placesOf,
  scopeOf,
  table,
  turnsIn,
  type Baseline,
  type Cell,
  type Death,
} from './cells.ts';
import { problemsOf } from './checks.ts';
import { judge, type Treatment } from './judge.ts';
import { TESTED_STORES } from './servers.ts';
import type { Ended } from './worker-process.ts';
import { forEachOf, World } from './world.ts';
import { EFFORT } from './effort.ts';

const CONCURRENCY = 3;
const SAVES: ReadonlySet<Place> = new Set(['before-save', 'mid-save', 'after-save']);
/** A lease that does not expire on a slow machine. */
const UNHURRIED = { leaseSeconds: 30 };

describe.each(TESTED_STORES)('$name', ({ name, start, hasVaryingWrites }) => {
  const scope = scopeOf(EFFORT, name === TESTED_STORES[0]?.name);
  let baselines: readonly Baseline[] = [];
  let stop: () => Promise<void>;
  let world: World;

  beforeAll(async () => {
    const started = await start();
    ({ stop } = started);
    world = await World.of(name, started.newLocation);
    baselines = await baselinesOf(world, combinations(scope));
  });

  afterAll(async () => {
    await world.close();
    await stop();
  });

  test('a process dies at any place, and another process finishes its work', async () => {
    const cells = baselines.flatMap((baseline) =>
      cellsOf(baseline, placesOf(scope, baseline), 'dies', scope),
    );
    const deaths: Death[] = [];
    await forEachOf(groupsOf(cells), CONCURRENCY, async (group) => void deaths.push(...(await die(group))));
    const later = await Promise.all([1, 2].map(() => world.run(['finish'], UNHURRIED)));
    expect(later).toEqual(later.map(() => ({ code: 0, signal: null, complaints: '', lines: [] })));

    const journal = world.journal.readBySession();
    const problems = [...problemsOf(journal)];
    const judged: [Cell, Treatment][] = [];
    const inOrder = deaths.toSorted((one, other) => cells.indexOf(one.cell) - cells.indexOf(other.cell));
    for (const { cell, atDeath, before } of inOrder) {
      const { plan, baseline } = cell;
      const after = journal.get(plan.sessionId)?.slice(before.length) ?? [];
      const final = await world.load(plan.sessionId);
      const verdict = judge({ plan, atDeath, before, after, final, uninterrupted: baseline.session });
      problems.push(...verdict.problems);
      judged.push([cell, verdict.treatment]);
    }
    const killed = deaths.filter(({ isKilled }) => isKilled);
    console.log(`${name}: ${killed.length} sessions of killed processes, and how they continued`);
    console.log(table(judged));
    expect(problems).toEqual([]);
    expect([...scope.places, ...scope.outages.places].filter((place) => !isTried(place, deaths))).toEqual([]);
  });

  /** A process plays the cells, one after the other, each until its place. After the last cell, the process dies. */
  async function die(group: readonly Cell[]): Promise<readonly Death[]> {
    const { lines, signal, complaints } = await play(group, 'stop');
    const finished = new Set(group.filter(({ plan }) => turnsIn(lines, plan.sessionId).counts));
    expect({ signal, complaints }).toEqual({
      signal: finished.size < group.length ? 'SIGKILL' : null,
      complaints: '',
    });
    expect([...finished].filter((cell) => !mayFinish(cell)).map(({ plan }) => plan.sessionId)).toEqual([]);
    const journal = world.journal.readBySession();
    return Promise.all(
      group.map(async (cell) => {
        const { sessionId } = cell.plan;
        const before = journal.get(sessionId) ?? [];
        return { cell, isKilled: !finished.has(cell), before, atDeath: await world.load(sessionId) };
      }),
    );
  }

  /** Calls in parallel may share a save. On a slow machine a pause may be over before the execution is suspended. */
  function mayFinish({ place, plan, outage }: Cell): boolean {
    if (outage === 'rateLimited') return true;
    return (place === 'mid-save' && hasVaryingWrites === true) || (SAVES.has(place) && plan.calls > 1);
  }

  async function play(group: readonly Cell[], act: Fault['act'], options?: typeof UNHURRIED): Promise<Ended> {
    for (const { plan } of group) await world.begin(plan);
    const scenes = group.map(({ plan: { sessionId }, place, nth }) => ({
      sessionId,
      fault: faultText({ place, nth, act }),
    }));
    return world.run(['play', JSON.stringify(scenes)], options);
  }

  test('a save whose reply does not arrive is done once', async () => {
    const tried = baselines.filter(
      ({ outage, mode }) => EFFORT > 1 || (outage === undefined && mode === 'parallel'),
    );
    const cells = tried.flatMap((baseline) => cellsOf(baseline, ['after-save'], 'hears nothing', scope));
    const problems: string[] = [];
    await forEachOf(groupsOf(cells), CONCURRENCY, async (group) => {
      const { lines, complaints } = await play(group, 'lose-reply', UNHURRIED);
      expect(complaints).toBe('');
      for (const { plan, baseline } of group) {
        expect(turnsIn(lines, plan.sessionId).outcomes).toEqual(baseline.outcomes);
        const final = await world.load(plan.sessionId);
        const nothing = { before: [], after: [], atDeath: final };
        problems.push(...judge({ plan, final, uninterrupted: baseline.session, ...nothing }).problems);
      }
    });
    expect([...problems, ...problemsOf(world.journal.readBySession())]).toEqual([]);
  });
});

/** True when most of the cells at a place were killed. */
function isTried(place: Place, deaths: readonly Death[]): boolean {
  const here = deaths.filter(({ cell }) => cell.place === place);
  return here.filter(({ isKilled }) => isKilled).length > here.length / 2;
}
