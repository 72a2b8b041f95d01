import { machine } from '../process.ts';
import { inUnit, reportTable } from '../report.ts';
import { describeServer, startRedis } from '../stores/redis-server.ts';
import { CapacityBench, type CapacityFigures, type IdleFigures } from './measure-capacity.ts';

const IDLE: Readonly<Record<keyof IdleFigures, string>> = {
  queueCommands: 'commands of the queue a second',
  storeCommands: 'commands of the store a second',
  queueCpu: 'CPU of the queue, ms a second',
  storeCpu: 'CPU of the store, ms a second',
  workerCpu: 'CPU of three workers, ms a second',
};

/** Fills a store with suspended sessions, half of them with a timer in the queue, and prints what they cost. */
export async function benchCapacity(sessions: number): Promise<void> {
  console.log(`\n# Capacity: ${sessions} suspended sessions\n\n${machine()}`);
  const store = await startRedis();
  const queue = await startRedis();
  try {
    const bench = await CapacityBench.start({ store, queue });
    report(await bench.measure(sessions, (phase) => console.error(`capacity: ${phase}`)));
    await bench.close();
    console.log(`\n${machine()}\n\nServer: ${await describeServer(store)}`);
  } finally {
    await store.stop();
    await queue.stop();
  }
}

function report(figures: CapacityFigures): void {
  const { empty, full, sessions } = figures;
  const names = Object.keys(IDLE) as (keyof IdleFigures)[];
  const rows = names.map((name) => [IDLE[name], inUnit(empty[name]), inUnit(full[name])]);
  reportTable('Three idle workers', ['what', 'without sessions', `with ${sessions}`], rows);
  reportTable(
    'Suspended sessions',
    ['what', 'measured'],
    [
      ['memory of the store for a session, bytes', inUnit(figures.storeBytes)],
      ['memory of the queue for a timer, bytes', inUnit(figures.timerBytes)],
      ['sessions created and suspended, a second', inUnit(figures.created)],
      ['a sweep that finds nothing, ms', inUnit(figures.sweepMilliseconds)],
      ['1,000 approvals, until the last session has ended, s', inUnit(figures.wakeSeconds)],
      ['a timer is late: p50, ms', inUnit(figures.late50)],
      ['a timer is late: p99, ms', inUnit(figures.late99)],
    ],
  );
}
