import { runCase, type CaseRun } from './case-run.ts';
import { DEFAULT_LIMIT_SECONDS } from './harness.ts';

/** A case as a test, ready for a test runner. */
export interface ConformanceTest {
  /** The name of the case. If the test is skipped, the name ends with the missing ability. */
  readonly name: string;
  /** True when the harness lacks an ability that the case needs. */
  readonly skip: boolean;
  /** Runs the case. Rejects when it fails, or does not finish within the time limit of the harness. */
  readonly run: () => Promise<void>;
}

/** The parts of a case that do not depend on its contract. */
interface NamedCase {
  readonly group?: string;
  readonly name: string;
  readonly needs?: string | undefined;
}

interface TestOptions {
  /** Whether the harness lacks the ability that the case needs. */
  readonly skip: boolean;
  readonly limitSeconds?: number | undefined;
}

/** Creates the test of a case. The test closes all that the case creates, and has a time limit. */
export function conformanceTest(
  { group, name, needs }: NamedCase,
  { skip, limitSeconds = DEFAULT_LIMIT_SECONDS }: TestOptions,
  act: (run: CaseRun) => Promise<void>,
): ConformanceTest {
  const fullName = group === undefined ? name : `${group}: ${name}`;
  return {
    name: skip ? `${fullName} (needs ${needs})` : fullName,
    skip,
    run: () => runCase(fullName, limitSeconds, act),
  };
}
