import { textOf } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { KINDS, type Plan } from '../src/agent.ts';
import { OUTAGES } from '../src/provider.ts';
import { historyProblems, priceProblems, problemsOf } from './checks.ts';
import { changed, isIdle, repeated } from './endings.ts';
import { newQueue, startQueueServer } from './engine/support/queue-server.ts';
import { thawLater } from './freezes.ts';
import { untilProgress } from './progress.ts';
import { randomFrom } from './random.ts';
import { TESTED_STORES } from './servers.ts';
import type { WorkerProcess } from './worker-process.ts';
import { World } from './world.ts';
import { EFFORT, SEED } from './effort.ts';

/** The number of sessions with an engine in memory. */
const SESSIONS = Number(process.env['SESSIONS'] ?? 10 * EFFORT);
/** The engines of the workers, and the command of their process. */
const ENGINES = [
  { command: 'serve', engine: 'InProcessEngine', sessions: SESSIONS },
  { command: 'poll', engine: 'PollingEngine', sessions: 2 * SESSIONS },
  { command: 'serve', engine: 'BullmqEngine', sessions: SESSIONS },
];
const WORKERS = 3;
const MOST_DISTURBANCES = 2 * SESSIONS;
const LEASE_SECONDS = 0.5;
const SETTINGS = { pace: 20, leaseSeconds: LEASE_SECONDS };

/** With more effort each store has each engine: BullMQ on Redis, where sweeps are rare. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['InProcessEngine', 'PollingEngine'],
  redis: ['BullmqEngine'],
  dynamodb: ['PollingEngine'],
};
const SETUPS = TESTED_STORES.flatMap((store) =>
  ENGINES.filter(({ engine }) =>
    EFFORT > 1 ? engine !== 'BullmqEngine' || store.name === 'redis' : USUAL[store.name]?.includes(engine),
  ).map((engine) => ({ ...store, ...engine })),
);

describe.each(SETUPS)('$name, $engine', ({ name, start, command, engine, sessions }) => {
  test(`sessions outlive processes that are killed and frozen at random (SEED=${SEED})`, async () => {
    const { newLocation, stop } = await start();
    const queue = engine === 'BullmqEngine' ? await startQueueServer() : undefined;
    const world = await World.of(name, newLocation, queue && newQueue(queue));
    const random = randomFrom(SEED);
    const plans = Array.from({ length: sessions }, (_, index): Plan => ({
      sessionId: `session-${index}`,
      kind: KINDS[index % KINDS.length] ?? 'once',
      steps: 2 + random(4),
      calls: 1 + random(3),
      outage: index % 2 === 0 ? OUTAGES[(index / 2) % OUTAGES.length] : undefined,
    }));
    for (const plan of plans) await world.begin(plan);
    const notes = plans.filter((_, index) => index % 3 === 0).flatMap(notesFor);
    const disturbed = await disturb(world, { command, random, notes });

    const journal = world.journal.readBySession();
    const problems = [...problemsOf(journal)];
    const twice = { called: 0, done: 0 };
    for (const plan of plans) {
      const entries = journal.get(plan.sessionId) ?? [];
      const heard = notes.filter(({ sessionId }) => sessionId === plan.sessionId);
      problems.push(...(heard.length > 0 ? await notesMissing(world, heard) : await changed(world, plan)));
      twice.called += repeated(entries, 'called');
      twice.done += repeated(entries, 'done');
    }
    console.log(`${name}, ${engine}, SEED=${SEED}, ${sessions} sessions:`, {
      ...disturbed,
      twice,
      problems: problems.length,
    });
    await world.close();
    await stop();
    await queue?.stop();
    expect(problems).toEqual([]);
    expect(disturbed.killed).toBeGreaterThan(0);
    expect(disturbed.frozen).toBeGreaterThan(0);
  });
});

/** A message that a session receives during the work or after it. */
interface Note {
  readonly sessionId: string;
  readonly text: string;
}

function notesFor({ sessionId }: Plan): readonly Note[] {
  return ['one', 'two'].map((text) => ({ sessionId, text }));
}

interface Disturbance {
  /** The command of the worker processes. */
  readonly command: string;
  readonly random: (below: number) => number;
  readonly notes: readonly Note[];
}

/**
 * Kills and freezes workers, and sends notes, until all sessions have ended. It sends few notes before the first kill and
 * the first freeze, so that the work lasts until then. Returns the number of kills and freezes.
 */
async function disturb(
  world: World,
  { command, random, notes }: Disturbance,
): Promise<{ readonly killed: number; readonly frozen: number }> {
  const counts = { killed: 0, frozen: 0 };
  const complaints: string[] = [];
  const thaws: Promise<unknown>[] = [];
  const begin = (): WorkerProcess => {
    const worker = world.start([command], SETTINGS);
    void worker.ended.then((ended) => complaints.push(ended.complaints));
    return worker;
  };
  const workers = Array.from({ length: WORKERS }, begin);
  const unsaid = [...notes];
  while (counts.frozen === 0 || unsaid.length > 0 || !(await isIdle(world))) {
    await untilProgress(world, 1 + random(10));
    if (world.hasQueue) await world.people.attend();
    const most = counts.frozen === 0 ? 1 : 8;
    for (const { sessionId, text } of unsaid.splice(random(unsaid.length), 1 + random(most))) {
      // A client that receives no reply sends its message again.
      for (let time = 1; time <= 2; time++) await world.tell(sessionId, text, text);
    }
    const index = random(WORKERS);
    const worker = workers[index] as WorkerProcess;
    // Processes that are killed too early or too often complete no work.
    if (!worker.hasSpoken || counts.killed + counts.frozen >= MOST_DISTURBANCES) continue;
    if (counts.killed === 0 || (counts.frozen > 0 && random(3) > 0)) {
      counts.killed++;
      worker.kill();
      workers[index] = begin();
    } else {
      counts.frozen++;
      worker.kill('SIGSTOP');
      thaws.push(thawLater(worker, LEASE_SECONDS + random(400) / 1000));
    }
  }
  await Promise.all(thaws);
  for (const worker of workers) worker.leave();
  await Promise.all(workers.map(({ ended }) => ended));
  expect(complaints.join('')).toBe('');
  return counts;
}

/** The notes that their session does not have exactly once, or has not answered. */
async function notesMissing(world: World, notes: readonly Note[]): Promise<readonly string[]> {
  const session = await world.load(notes[0]?.sessionId ?? '');
  const { messages, finalResponse = '', status } = session.state;
  const said = messages
    .toArray()
    .filter(({ role }) => role === 'user')
    .map(textOf);
  const missing = notes.filter(({ text }) => {
    return said.filter((each) => each === text).length !== 1 || !finalResponse.includes(text);
  });
  const wrong = missing.map(
    ({ text }) => `${session.sessionId}: "${text}" in ${said.join()}, ${finalResponse}`,
  );
  return [
    ...historyProblems(session),
    ...priceProblems(session),
    ...wrong,
    ...(status === 'completed' ? [] : [`${session.sessionId} is ${status}`]),
  ];
}
