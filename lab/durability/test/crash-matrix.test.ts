import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultText, type Place } from '../src/faults.ts';
import {
  baselineOf,
  cellsOf,
  combinations,
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
import { forEachOf, World } from './world.ts';

const EFFORT = Number(process.env['EFFORT'] ?? 1);
const CONCURRENCY = 3;
/** So that nobody takes over what is not left, on a slow machine. */
const UNHURRIED = { leaseSeconds: 30 };

describe.each(TESTED_STORES)('$name', ({ name, start, hasVaryingWrites }) => {
  const scope = scopeOf(EFFORT, name === TESTED_STORES[0]?.name);
  const baselines: Baseline[] = [];
  let stop: () => Promise<void>;
  let world: World;

  beforeAll(async () => {
    const started = await start();
    ({ stop } = started);
    world = await World.of(name, started.newLocation);
    for (const combination of combinations(scope)) baselines.push(await baselineOf(world, combination));
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
    await forEachOf(cells, CONCURRENCY, async (cell) => void deaths.push(await die(cell)));
    const later = await Promise.all([1, 2].map(() => world.run(['finish'], UNHURRIED)));
    expect(later).toEqual(later.map(() => ({ code: 0, signal: null, complaints: '', lines: [] })));

    const journal = world.journal.readBySession();
    const problems = [...problemsOf(journal)];
    const judged: [Cell, Treatment][] = [];
    for (const { cell, atDeath, before } of deaths) {
      const { plan, baseline } = cell;
      const after = journal.get(plan.sessionId)?.slice(before.length) ?? [];
      const final = await world.load(plan.sessionId);
      const verdict = judge({ plan, atDeath, before, after, final, uninterrupted: baseline.session });
      problems.push(...verdict.problems);
      judged.push([cell, verdict.treatment]);
    }
    const killed = deaths.filter(({ isKilled }) => isKilled);
    console.log(`${name}: ${killed.length} processes killed, and what became of their sessions`);
    console.log(table(judged));
    expect(problems).toEqual([]);
    expect([...scope.places, ...scope.outages.places].filter((place) => !isTried(place, deaths))).toEqual([]);
  });

  async function die(cell: Cell): Promise<Death> {
    const { plan, place, nth, outage } = cell;
    await world.begin(plan);
    const { signal, complaints } = await world.run(['drive', plan.sessionId], {
      fault: faultText({ place, nth, act: 'kill' }),
    });
    // On a slow machine a pause may be over before the execution is suspended, and calls in parallel share a save.
    const isVarying = hasVaryingWrites || plan.calls > 1;
    const mayPass = (isVarying && place === 'mid-save') || outage === 'rateLimited';
    const died = { of: plan.sessionId, complaints, signal };
    expect(died).toEqual({ ...died, complaints: '', signal: mayPass ? signal : 'SIGKILL' });
    const before = world.journal.readBySession().get(plan.sessionId) ?? [];
    return { cell, isKilled: signal === 'SIGKILL', before, atDeath: await world.load(plan.sessionId) };
  }

  test('a save whose reply does not arrive is done once', async () => {
    const tried = baselines.filter(
      ({ outage, mode }) => EFFORT > 1 || (outage === undefined && mode === 'parallel'),
    );
    const cells = tried.flatMap((baseline) => cellsOf(baseline, ['after-save'], 'hears nothing', scope));
    const problems: string[] = [];
    await forEachOf(cells, CONCURRENCY, async ({ plan, place, nth, baseline }) => {
      await world.begin(plan);
      const fault = faultText({ place, nth, act: 'lose-reply' });
      const { lines, complaints } = await world.run(['drive', plan.sessionId], { fault, ...UNHURRIED });
      expect([complaints, turnsIn(lines).outcomes]).toEqual(['', baseline.outcomes]);
      const final = await world.load(plan.sessionId);
      const nothing = { before: [], after: [], atDeath: final };
      problems.push(...judge({ plan, final, uninterrupted: baseline.session, ...nothing }).problems);
    });
    expect([...problems, ...problemsOf(world.journal.readBySession())]).toEqual([]);
  });
});

/** Did most of those die that were to die there? */
function isTried(place: Place, deaths: readonly Death[]): boolean {
  const here = deaths.filter(({ cell }) => cell.place === place);
  return here.filter(({ isKilled }) => isKilled).length > here.length / 2;
}
