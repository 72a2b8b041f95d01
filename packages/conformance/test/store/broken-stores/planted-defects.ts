import type { SessionStore } from '@holdfast/core';
import type { ItemRange, ReadRequest, SessionBackend, StoredItem } from '@holdfast/core/store';
import {
  sessionStoreTests,
  type ConformanceTest,
  type CreateStore,
  type SessionStoreHarness,
} from '@holdfast/conformance';
import type { Ways } from '../map-backend.ts';
import { isThorough } from '../../run/red-cases.ts';
import type { StoreParts } from '../map-store.ts';
import { DEAR_CASES } from '../case-parts.ts';
import { GROUPS } from './defects.ts';
import redCases from './red-cases.json' with { type: 'json' };

/**
 * Plants the defects of the reference store in any store on a `SessionBackend`. These defects stay in the reference:
 *
 * - those that read or change the map of the reference (`inside`): a database has no such map;
 * - those of a way that the database itself takes: how it compares the record (`isThere`), detects a second item
 *   (`isDuplicate`), finds, filters, sorts and removes sessions (`keyOf`, `isListed`, `isAwaited`, `isPruned`,
 *   `matches…`, `compare…`, `recordDueAt`, `pruned`), and applies a plan (`applySavePlan`, `inbox`). A wrapper would have
 *   to do the work of the database, so the case would test the wrapper.
 */
const PLANTABLE_WAYS: readonly string[] = ['kept', 'answered', 'read'] satisfies (keyof Ways)[];

/** A defect in a store, and the tests that should find it. */
interface PlantedDefect {
  readonly name: string;
  /** The tests of the cases that the reference store with this defect fails, without those that the harness skips. */
  readonly tests: readonly ConformanceTest[];
  /** The tests of the same cases, run on the store without the defect. */
  readonly soundTests: readonly ConformanceTest[];
}

const EXPECTED: Readonly<Record<string, readonly string[]>> = redCases;
/** The number of defects of each group without effort. They run no case that takes seconds. */
const SAMPLE = 3;

/**
 * Returns defects of each group, planted in the stores of a harness. With `EFFORT=2` it returns all of them.
 * @param hidden the defects that the store hides from every caller, with the reason
 */
export function plantedDefects(
  harness: SessionStoreHarness,
  hidden: Readonly<Record<string, string>> = {},
): readonly PlantedDefect[] {
  return Object.values(GROUPS).flatMap((defects: Readonly<Record<string, StoreParts>>) => {
    const planted = Object.entries(defects)
      .filter(([name, parts]) => isPlantable(parts) && !Object.hasOwn(hidden, name))
      .map(([name, parts]) => ({
        name,
        tests: testsOf(name, harnessWith(harness, parts)),
        soundTests: testsOf(name, harnessWith(harness, {})),
      }))
      .filter(({ tests }) => tests.length > 0);
    return isThorough ? planted : everyNth(planted, SAMPLE);
  });
}

/** Runs the tests of a defect until one fails, and returns its name. Rejects when the store without the defect fails it too. */
export async function firstRed({ tests, soundTests }: PlantedDefect): Promise<string | undefined> {
  for (const [index, { name, run }] of tests.entries()) {
    if (!(await isRed(run))) continue;
    await soundTests[index]?.run();
    return name;
  }
  return undefined;
}

async function isRed(run: () => Promise<void>): Promise<boolean> {
  const [result] = await Promise.allSettled([run()]);
  return result.status === 'rejected';
}

function everyNth<T>(all: readonly T[], count: number): readonly T[] {
  const distance = Math.max(1, Math.floor(all.length / count));
  return all.filter((_, index) => index % distance === 0).slice(0, count);
}

function testsOf(defect: string, harness: SessionStoreHarness): readonly ConformanceTest[] {
  const red = sessionStoreTests(harness).filter(
    ({ name, skip }) => !skip && EXPECTED[defect]?.includes(name),
  );
  const cheap = red.filter(({ name }) => !DEAR_CASES.test(name));
  return isThorough ? [...cheap, ...red.filter((one) => !cheap.includes(one))] : cheap;
}

function isPlantable({ ways = {}, inside }: StoreParts): boolean {
  return inside === undefined && Object.keys(ways).every((way) => PLANTABLE_WAYS.includes(way));
}

function harnessWith(harness: SessionStoreHarness, parts: StoreParts): SessionStoreHarness {
  const { create, reopen } = harness;
  return {
    ...harness,
    create: plantedIn(create, parts),
    ...(reopen && { reopen: plantedIn(reopen, parts) }),
  };
}

function plantedIn(
  create: CreateStore,
  { ways, client, settings: own, store: changes }: StoreParts,
): CreateStore {
  return async (clock, settings) => {
    const { store, close } = await create(clock, { ...settings, ...own });
    replaceBackend(store, (backend) => {
      const changed = delegate(backend, ways ? waysOf(backend, ways) : {});
      return delegate(changed, client?.(changed) ?? {});
    });
    return { store: delegate(store, changes?.(store) ?? {}), close };
  };
}

/** Replaces the backend of a `BackedSessionStore`, which is a private field of a private field. */
function replaceBackend(store: SessionStore, replace: (backend: SessionBackend) => SessionBackend): void {
  const holder: object = Reflect.get(store, 'opened');
  Reflect.set(holder, 'opened', replace(Reflect.get(holder, 'opened')));
}

const ALL: ItemRange = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };

/** The defects of some ways, as methods of a backend. */
function waysOf(backend: SessionBackend, { kept, answered, read }: Partial<Ways>): Partial<SessionBackend> {
  return {
    ...(kept && {
      async compareAndSet(id, before, after, change) {
        const record = await backend.readRecord(id);
        const found = record && { record };
        return backend.compareAndSet(id, before, after && kept(after, found, change), change);
      },
    }),
    ...(answered && {
      async readRecord(id) {
        const record = await backend.readRecord(id);
        return record && answered(record);
      },
      async readSession(id, request) {
        const extent: ReadRequest['extent'] = (record) => request.extent(answered(record));
        const found = await backend.readSession(id, { ...request, extent });
        return found && { ...found, record: answered(found.record) };
      },
    }),
    ...(read && {
      async readInbox(id, incarnation, range) {
        const items = await backend.readInbox(id, incarnation, ALL);
        return read(new Map(items.map((item) => [item.position, withId(item)])), range);
      },
    }),
  };
}

function withId(item: StoredItem): StoredItem & { readonly id: string } {
  const { id }: { readonly id: string } = JSON.parse(item.json);
  return { ...item, id };
}

/** Returns an object with some methods of another one replaced. The others keep their `this`. */
function delegate<T extends object>(sound: T, changes: Partial<T>): T {
  return new Proxy(sound, {
    get(target, name) {
      const member: unknown = Reflect.get(name in changes ? changes : target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
