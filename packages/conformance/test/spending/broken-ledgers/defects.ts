import {
  refusalOf,
  SPENDING_WINDOWS,
  windowsAt,
  type CountedWindows,
  type SpendingLedger,
  type SpendingWindow,
} from '@holdfast/core/spending';
import { SOUND, type LedgerParts, type LedgerWays } from './map-ledger.ts';

const ways = (changed: Partial<LedgerWays>): LedgerParts => ({ ways: changed });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The windows with some of them computed in another way. */
function changedWindows(
  windows: CountedWindows,
  change: (window: SpendingWindow) => Partial<CountedWindows['hour']> | undefined,
): CountedWindows {
  const changed = SPENDING_WINDOWS.map(
    (window) => [window, { ...windows[window], ...change(window) }] as const,
  );
  return { ...windows, ...Object.fromEntries(changed) };
}

/** Ledgers with one defect each, by its name. */
export const brokenLedgers: Readonly<Record<string, LedgerParts>> = {
  'reserves nothing': ways({ reserve: () => undefined }),
  'refuses an amount that reaches the limit': ways({
    refusalOf: (windows, asked) => refusalOf(windows, { ...asked, amount: asked.amount + 1 }),
  }),
  'allows a nano-dollar more than the limit': ways({
    refusalOf: (windows, asked) => refusalOf(windows, { ...asked, amount: Math.max(0, asked.amount - 1) }),
  }),
  'does not count reservations': ways({
    refusalOf: (windows, asked) => refusalOf(windows, { ...asked, reserved: 0 }),
  }),
  'does not count what is spent': ways({
    refusalOf: (windows, asked) =>
      refusalOf(
        changedWindows(windows, () => ({ spent: 0 })),
        asked,
      ),
  }),
  'checks one window': ways({
    refusalOf: (windows, { limits: { day }, ...asked }) =>
      refusalOf(windows, { ...asked, limits: day === undefined ? {} : { day } }),
  }),
  'names the window that ends first': ways({
    refusalOf(windows, asked) {
      const each = SPENDING_WINDOWS.map((window) => {
        const limit = asked.limits[window];
        return refusalOf(windows, { ...asked, limits: limit === undefined ? {} : { [window]: limit } });
      });
      return each.find((refusal) => refusal !== undefined);
    },
  }),
  'refuses without a limit': ways({
    refusalOf: (windows, asked) => refusalOf(windows, { ...asked, limits: { total: 1e9, ...asked.limits } }),
  }),
  'keeps a refused amount reserved': {
    ledger: (sound) => ({
      async reserve(reservation) {
        const result = await sound.reserve(reservation);
        if (!result.isReserved) await sound.reserve({ ...reservation, limits: {} });
        return result;
      },
    }),
  },
  'reserves a repeated call again': ways({
    isKnown: ({ settled }, id) => settled.has(id),
    reserve({ reservations }, id, reservation) {
      reservations.set(reservations.has(id) ? `${id} ${reservations.size}` : id, reservation);
    },
  }),
  'reserves a settled call again': ways({ isKnown: ({ reservations }, id) => reservations.has(id) }),
  'remembers refusals': {
    ledger(sound) {
      const refused = new Map<string, Awaited<ReturnType<SpendingLedger['reserve']>>>();
      return {
        async reserve(reservation) {
          const known = refused.get(reservation.inferenceId);
          const result = known ?? (await sound.reserve(reservation));
          if (!result.isReserved) refused.set(reservation.inferenceId, result);
          return result;
        },
      };
    },
  },
  'keeps the reservation of a settled call': ways({
    settle(account, id, amount, now) {
      const reservation = account.reservations.get(id);
      SOUND.settle(account, id, amount, now);
      if (reservation) account.reservations.set(id, reservation);
    },
  }),
  'counts at most the reserved amount': ways({
    settle(account, id, amount, now) {
      const most = account.reservations.get(id)?.amount ?? amount;
      SOUND.settle(account, id, Math.min(amount, most), now);
    },
  }),
  'settles twice': ways({ isSettled: () => false }),
  'forgets settled calls after a day': ways({
    isSettled: ({ settled }, id, now) => now - (settled.get(id) ?? 0) < DAY,
  }),
  'ignores settlements without a reservation': ways({
    isSettled: ({ settled, reservations }, id) => settled.has(id) || !reservations.has(id),
  }),
  'forgets a settled call with its release': ways({
    release(account, id) {
      SOUND.release(account, id);
      account.settled.delete(id);
    },
  }),
  'does not release': ways({ release: () => undefined }),
  'releases all calls': ways({ release: ({ reservations }) => reservations.clear() }),
  'ignores settlements after a release': ways({
    release(account, id) {
      if (account.reservations.delete(id)) account.settled.set(id, 0);
    },
  }),
  'never ends a reservation': ways({ isExpired: () => false }),
  'ends a reservation a millisecond late': ways({ isExpired: ({ expiresAt }, now) => expiresAt < now }),
  'ends reservations after a minute': ways({ isExpired: ({ at }, now) => at + 60_000 <= now }),
  'ends all reservations with the first': ways({
    moveTo(account, now) {
      const isOver = [...account.reservations.values()].some(({ expiresAt }) => expiresAt <= now);
      if (isOver) account.reservations.clear();
    },
  }),
  'prolongs a repeated reservation': ways({
    isKnown: ({ settled, reservations }, id) => settled.has(id) || (reservations.delete(id) && false),
  }),
  'ignores a settlement after the expiry': ways({
    isSettled: ({ settled, reservations }, id) => settled.has(id) || (id === 'a' && reservations.has('b')),
  }),
  'has days of another time zone': ways({
    windowsAt: (counted, now) =>
      changedWindows(windowsAt(counted, now), (window) =>
        window === 'day' ? { since: Math.floor((now + 5 * HOUR) / DAY) * DAY - 5 * HOUR } : undefined,
      ),
  }),
  'has months of 30 days': ways({
    windowsAt: (counted, now) =>
      changedWindows(windowsAt(counted, now), (window) =>
        window === 'month' ? { since: Math.floor(now / (30 * DAY)) * 30 * DAY } : undefined,
      ),
  }),
  'empties the day with the hour': ways({
    windowsAt(counted, now) {
      const windows = windowsAt(counted, now);
      const hasEnded = counted !== undefined && counted.hour.since !== windows.hour.since;
      return changedWindows(windows, (window) => (window === 'day' && hasEnded ? { spent: 0 } : undefined));
    },
  }),
  'never empties a window': ways({
    windowsAt(counted, now) {
      const windows = windowsAt(counted, now);
      return changedWindows(windows, (window) => counted && { spent: counted[window].spent });
    },
  }),
  'ends reservations with the day': ways({
    isExpired: ({ at, expiresAt }, now) => expiresAt <= now || Math.floor(at / DAY) < Math.floor(now / DAY),
  }),
  'empties a window when the clock goes back': ways({
    windowsAt: (counted, now) => {
      const goesBack = counted !== undefined && counted.hour.since > now;
      const windows = windowsAt(goesBack ? undefined : counted, now);
      return counted && goesBack ? { ...windows, total: counted.total } : windows;
    },
  }),
  'adds dollars in floating point': {
    ledger(sound) {
      const sums = new Map<string, number>();
      return {
        async settle(settlement) {
          await sound.settle(settlement);
          const { owner, amount } = settlement;
          if (!settlement.inferenceId.startsWith('tenth')) sums.delete(owner);
          else sums.set(owner, (sums.get(owner) ?? 0) + amount);
        },
        async read(owner) {
          const found = await sound.read(owner);
          const spent = sums.get(owner);
          return spent === undefined ? found : { ...found, day: { ...found.day, spent } };
        },
      };
    },
  },
  'counts micro-dollars': {
    ledger: (sound) => ({
      settle: (settlement) => sound.settle({ ...settlement, amount: micros(settlement.amount) }),
      reserve: (reservation) => sound.reserve({ ...reservation, amount: micros(reservation.amount) }),
    }),
  },
  'counts beyond safe numbers': ways({
    settle(account, id, amount, now) {
      const windows = windowsAt(account.windows, now);
      SOUND.settle(account, id, 0, now);
      account.windows = changedWindows(windows, (window) => ({ spent: windows[window].spent + amount }));
    },
  }),
  'counts 32 bits': ways({ settle: thirtyTwoBits }),
  'ignores the case of owners': ways({ ownerKey: (owner) => owner.toLowerCase() }),
  'ends owners at a NUL': ways({ ownerKey: (owner) => owner.split('\0', 1)[0] ?? '' }),
  'truncates owners': ways({ ownerKey: (owner) => owner.slice(0, 255) }),
  'normalizes ids': ways({ idKey: (id) => id.normalize('NFC').trim() }),
  'has one account': ways({ ownerKey: () => '' }),
  'accepts every argument': {
    ledger: (sound) => ({
      reserve: (reservation) => sound.reserve(reservation).catch(() => ({ isReserved: true })),
    }),
  },
  'settles negative amounts': {
    ledger: (sound) => ({
      settle: (settlement) =>
        settlement.amount < 0 ? sound.settle({ ...settlement, amount: 0 }) : sound.settle(settlement),
    }),
  },
  'works after it was closed': { ledger: () => ({ close: async () => undefined }) },
  'checks and writes in two steps': ways({ between: () => Promise.resolve() }),
  'counts for each process': { isAlone: true },
};

function micros(dollars: number): number {
  return Number.isFinite(dollars) ? Math.round(dollars * 1e6) / 1e6 : dollars;
}

function thirtyTwoBits(...[account, id, amount, now]: Parameters<LedgerWays['settle']>): void {
  SOUND.settle(account, id, amount % 2 ** 32, now);
}
