import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { ConformanceTest } from '../conformance-test.ts';
import { sessionStoreCases } from './session-store-cases.ts';
import { checkAbilities } from './store-case.ts';
import type { CreateStore, SessionStoreCase, StoreAbilities } from './store-case.ts';

/**
 * Converts the cases to tests of one store. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of sessionStoreTests(createStore)) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown ability or an invalid value
 */
export function sessionStoreTests(
  createStore: CreateStore,
  abilities: StoreAbilities = {},
): readonly ConformanceTest[] {
  checkArgument('createStore', createStore, mustBe.function);
  checkAbilities(abilities);
  return sessionStoreCases.map(({ group, name, needs, run }) => {
    const skip = needs !== undefined && !canDo(abilities, needs);
    const missing = skip ? ` (needs ${needs})` : '';
    return { name: `${group}: ${name}${missing}`, skip, run: () => run(createStore, abilities) };
  });
}

function canDo(abilities: StoreAbilities, need: NonNullable<SessionStoreCase['needs']>): boolean {
  if (need === 'reopen' || need === 'measure' || need === 'remember') return abilities[need] !== undefined;
  return abilities.faults?.kinds.includes(need) ?? false;
}
