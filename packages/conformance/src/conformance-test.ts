/** One case, ready for a test runner. */
export interface ConformanceTest {
  /** Says what is missing when it is to be skipped. */
  readonly name: string;
  /** True when the harness cannot do what the case needs. */
  readonly skip: boolean;
  /** Rejects when what is tested does not do it. */
  readonly run: () => Promise<void>;
}
