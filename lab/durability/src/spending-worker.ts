// A process whose callers spend the money of one owner, until the ledger refuses. It writes a line before and after each
// operation that a kill can interrupt. The arguments are those of `SpendingPlan`, as JSON.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { SpendingLedger } from '@holdfast/core/spending';
import { readSettings } from './settings.ts';
import { LEDGERS } from './spending-ledgers.ts';

/** The work of a process. Amounts are whole cents. */
export interface SpendingPlan {
  readonly owner: string;
  /** The present instant, which stands still. */
  readonly now: number;
  readonly limit: number;
  readonly callers: number;
  readonly maxBound: number;
  /** False: each call reserves nothing, as if the application knew no upper bound. */
  readonly isReserved: boolean;
  readonly seed: number;
  /** The operation during or after which the process kills itself. */
  readonly death?: 'reserving' | 'reserved' | 'settling' | undefined;
}

/** A line of the process: an amount in cents was reserved, is about to be settled, or was settled. */
export interface SpendingLine {
  readonly type: 'reserved' | 'settling' | 'settled' | 'ready' | 'over';
  readonly id?: string;
  readonly amount?: number;
  /** The amount by which the cost exceeds the reservation. */
  readonly excess?: number;
}

const STDOUT = 1;
/** A process with a `death` dies at this call of its first caller. */
const LAST_CALL = 1;
const EXPIRES_IN_SECONDS = 60;
const MAX_REFUSALS = 3;

const { store, location } = readSettings();

function write(line: SpendingLine): void {
  writeSync(STDOUT, `${JSON.stringify(line)}\n`);
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Kills this process if it dies at this operation, after the operation was sent. */
async function dieAt(
  operation: SpendingPlan['death'],
  sent: Promise<unknown>,
  isLast: boolean,
): Promise<void> {
  if (!isLast || plan.death !== operation) return;
  sent.catch(() => undefined);
  await turn();
  die();
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function spend(ledger: SpendingLedger, plan: SpendingPlan, caller: number): Promise<void> {
  const random = randomFrom(plan.seed * 1_000 + caller);
  const { owner, maxBound } = plan;
  let refusals = 0;
  for (let call = 0; refusals < MAX_REFUSALS; call++) {
    const inferenceId = `${process.pid} ${caller} ${call}`;
    const bound = 1 + random(maxBound);
    const reserved = plan.isReserved ? bound : 0;
    const reservation = { owner, inferenceId, amount: reserved / 100, expiresInSeconds: EXPIRES_IN_SECONDS };
    const isLast = caller === 0 && call === LAST_CALL;
    const reserving = ledger.reserve({ ...reservation, limits: { day: plan.limit / 100 } });
    await dieAt('reserving', reserving, isLast);
    const { isReserved } = await reserving;
    if (!isReserved) {
      refusals++;
      continue;
    }
    write({ type: 'reserved', id: inferenceId, amount: reserved });
    await dieAt('reserved', reserving, isLast);
    for (let turns = random(5); turns > 0; turns--) await turn();
    // Each eighth call, on average, costs more than its bound.
    const amount = random(8) === 0 ? bound + 1 + random(5) : 1 + random(bound);
    write({ type: 'settling', id: inferenceId, amount, excess: Math.max(0, amount - reserved) });
    const settling = ledger.settle({ owner, inferenceId, amount: amount / 100 });
    await dieAt('settling', settling, isLast);
    await settling;
    write({ type: 'settled', id: inferenceId, amount });
  }
}

const plan = JSON.parse(process.argv[2] ?? '') as SpendingPlan;
const ledger = await LEDGERS[store]?.(location, { now: () => plan.now, newId: () => crypto.randomUUID() });
if (ledger === undefined) throw new Error(`There is no ledger "${store}".`);
write({ type: 'ready' });
await once(process.stdin, 'data');
process.stdin.destroy();
await Promise.all(Array.from({ length: plan.callers }, (_, caller) => spend(ledger, plan, caller)));
if (plan.death) die(); // the ledger has refused the last call
await ledger.close();
write({ type: 'over' });
