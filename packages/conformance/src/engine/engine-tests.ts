import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { ConformanceTest } from '../conformance-test.ts';
import { checkAbilities } from './engine-case.ts';
import type { CreateEngine, EngineAbilities } from './engine-case.ts';
import { engineCases } from './engine-cases.ts';

/**
 * Converts the cases to tests of one engine. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of engineTests(createEngine, { clock: true })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown ability or an invalid value
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
