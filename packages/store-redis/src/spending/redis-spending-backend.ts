import { createHash } from 'node:crypto';
import { StateFormatError, type Clock } from '@holdfast/core';
import {
  endOfWindow,
  SPENDING_WINDOWS,
  type BackendReservation,
  type BackendSettlement,
  type CountedWindow,
  type CountedWindows,
  type NanoRefusal,
  type SpendingAccount,
  type SpendingBackend,
  type SpendingCall,
  type SpendingWindow,
} from '@holdfast/core/spending';
import { SPEND } from '../scripts/redis-script.ts';
import { evictionWarning } from '../server/eviction.ts';
import type { RedisArgument } from '../server/redis-client.ts';
import type { RedisCalls } from '../server/redis-calls.ts';

export interface RedisSpendingBackendInit {
  readonly calls: RedisCalls;
  readonly prefix: string;
  /** Absent for the clock of the server. */
  readonly clock: Clock | undefined;
  /** The milliseconds for which the ids of settled calls are kept. */
  readonly keepIds: number;
  readonly onWarning: (message: string) => void;
}

/** Counts each owner in three keys of one slot, and changes them with one call of a script. */
export class RedisSpendingBackend implements SpendingBackend {
  private readonly init: RedisSpendingBackendInit;
  private preparing: Promise<void> | undefined;

  constructor(init: RedisSpendingBackendInit) {
    this.init = init;
  }

  /** Warns once when the server may evict accounts. The first call shows whether the server answers. */
  ready(): Promise<void> {
    this.preparing ??= this.prepare().catch((error: unknown) => {
      this.preparing = undefined;
      throw error;
    });
    return this.preparing;
  }

  async reserve(reservation: BackendReservation): Promise<NanoRefusal | undefined> {
    const { owner, inferenceId, amount, limits, expiresInSeconds } = reservation;
    const listed = SPENDING_WINDOWS.map((window) => limits[window] ?? '');
    const call = [inferenceId, amount, Math.ceil(expiresInSeconds * 1_000), ...listed];
    const [answer, ...facts] = await this.run('reserve', owner, call);
    return answer === 'refused' ? refusalFrom(facts) : undefined;
  }

  async settle({ owner, inferenceId, amount }: BackendSettlement): Promise<void> {
    await this.run('settle', owner, [inferenceId, amount, Math.ceil(this.init.keepIds)]);
  }

  async release({ owner, inferenceId }: SpendingCall): Promise<void> {
    await this.run('release', owner, [inferenceId]);
  }

  async read(owner: string): Promise<SpendingAccount> {
    const [answer, reserved, ...facts] = await this.run('read', owner, ['']);
    if (answer === 'unknown') return { windows: undefined, reserved: 0 };
    return { windows: windowsFrom(facts), reserved: Number(reserved) };
  }

  close(): Promise<void> {
    return this.init.calls.close();
  }

  private async prepare(): Promise<void> {
    const warning = await evictionWarning(this.init.calls, 'accounts of spending');
    if (warning !== undefined) this.init.onWarning(warning);
  }

  /** Runs the script `spend.lua`, which describes its arguments and its reply. */
  private async run(
    operation: string,
    owner: string,
    args: readonly RedisArgument[],
  ): Promise<readonly string[]> {
    await this.ready();
    const { calls, clock, prefix } = this.init;
    const keys = accountKeys(prefix, owner);
    const given = [operation, clock?.now() ?? '', ...args];
    const reply = await calls.run<readonly unknown[]>(SPEND, keys, given);
    const texts = reply.map(String);
    if (texts[0] === 'layout') throw otherLayout(owner, texts[1]);
    return texts;
  }
}

/** The keys of an account. The hash tag comes before the owner, so that the keys are always in one slot. */
function accountKeys(prefix: string, owner: string): readonly string[] {
  const tag = createHash('sha1').update(owner).digest('hex').slice(0, 16);
  return ['account', 'reservations', 'settled'].map((kind) => `${prefix}:{${tag}}:${kind}:${owner}`);
}

function refusalFrom(facts: readonly string[]): NanoRefusal {
  const [name, ...numbers] = facts;
  const [limit = 0, spent = 0, reserved = 0, since = 0] = numbers.map(Number);
  const window = SPENDING_WINDOWS.find((each) => each === name) ?? 'total';
  return { window, limit, spent, reserved, until: endOfWindow(window, since) };
}

function windowsFrom(facts: readonly string[]): CountedWindows {
  const counted = (window: SpendingWindow): CountedWindow => {
    const position = 2 * SPENDING_WINDOWS.indexOf(window);
    return { since: Number(facts[position]), spent: Number(facts[position + 1]) };
  };
  return { hour: counted('hour'), day: counted('day'), month: counted('month'), total: counted('total') };
}

function otherLayout(owner: string, found: string | undefined): StateFormatError {
  const isNewer = Number(found) > 1;
  const advice = isNewer
    ? 'a newer release wrote this, open it with that release'
    : 'choose another prefix for the ledger';
  const where = `the account of ${JSON.stringify(owner)}`;
  const code = isNewer ? 'STATE_VERSION' : 'STATE_FORMAT';
  return new StateFormatError(where, `layout 1; ${advice}`, `layout ${found}`, { code });
}
