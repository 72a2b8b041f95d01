/** A case as a test, ready for a test runner. */
export interface ConformanceTest {
  /** The name of the case. If the test is skipped, the name ends with the missing ability. */
  readonly name: string;
  /** True when the harness lacks an ability that the case needs. */
  readonly skip: boolean;
  /** Runs the case. Rejects when it fails. */
  readonly run: () => Promise<void>;
}
