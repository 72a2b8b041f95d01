import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { ConformanceTest } from '../conformance-test.ts';
import { checkAbilities } from './engine-case.ts';
import type { CreateEngine, EngineAbilities } from './engine-case.ts';
import { engineCases } from './engine-cases.ts';

/**
 * The cases as tests of one engine. Those that need what it cannot do are there too, to be skipped by name. With
 * `node:test` (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of engineTests(createEngine, { clock: true })) test(name, { skip }, run);
 * ```
 * @throws TypeError `ARGUMENT_INVALID` for an unknown ability or one that does not fit.
 */
export function engineTests(
  createEngine: CreateEngine,
  abilities: EngineAbilities = {},
): readonly ConformanceTest[] {
  checkArgument('createEngine', createEngine, mustBe.function);
  checkAbilities(abilities);
  return engineCases.map(({ group, name, needs, run }) => {
    const skip = needs !== undefined && abilities[needs] !== true;
    const missing = skip ? ` (needs ${needs})` : '';
    return { name: `${group}: ${name}${missing}`, skip, run: () => run(createEngine, abilities) };
  });
}
