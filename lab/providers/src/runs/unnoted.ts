import { isNoted, notedFor, type NotedDifference } from '../differences.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Provider } from '../wire.ts';
import type { Comparison } from './comparison.ts';
import { differencesBetween, type JsonDifference } from './json-paths.ts';
import type { Mode } from './outcome.ts';

/** The result of a comparison against the noted differences. */
export interface Judgement {
  /** The differences that are not noted. */
  readonly unnoted: readonly JsonDifference[];
  /** The noted differences that did not occur. */
  readonly missing: readonly NotedDifference[];
}

/** Compares what both sides did with the noted differences. */
export function judge(
  { sdk, held }: Comparison,
  { name, hasFreeOrder = false }: Provider,
  scenario: Scenario,
  mode: Mode,
): Judgement {
  const all = differencesBetween(sdk, held);
  const found = hasFreeOrder ? all.filter(({ path }) => !path.endsWith(' (order)')) : all;
  const noted = notedFor(name, scenario.name, mode);
  return {
    unnoted: found.filter(({ path }) => !noted.some((each) => isNoted(path, each))),
    missing: noted.filter((each) => !found.some(({ path }) => isNoted(path, each))),
  };
}
