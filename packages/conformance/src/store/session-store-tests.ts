import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { ConformanceTest } from '../conformance-test.ts';
import { sessionStoreCases } from './session-store-cases.ts';
import { checkAbilities } from './store-case.ts';
import type { CreateStore, SessionStoreCase, StoreAbilities } from './store-case.ts';

/**
 * The cases as tests of one store. Those that need what the harness cannot do are there too, to be skipped by name. With
 * `node:test` (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of sessionStoreTests(createStore)) test(name, { skip }, run);
 * ```
 * @throws TypeError `ARGUMENT_INVALID` for an unknown ability or one that does not fit.
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
