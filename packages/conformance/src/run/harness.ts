import { mustBe, type OptionChecks } from '@holdfast/core/engine';

/** A created store, driver or engine can be closed. */
export interface Closable {
  /**
   * Closes the connections of the subject. It may also remove the storage that `create` made: no case reads it again.
   * The tests call it once for each subject, when the case ends, fails or exceeds its time limit.
   */
  readonly close: () => Promise<void>;
}

/**
 * The members that the harnesses of stores, drivers and engines share. The other members of a harness are its abilities:
 * a case that needs a missing ability is skipped. Functions are called without `this`.
 */
export interface Harness<Create> {
  /** Creates the subject of a case, with nothing stored. Cases run one at a time. */
  readonly create: Create;
  /** The number of seconds after which an unfinished case fails. The default is 60. */
  readonly limitSeconds?: number | undefined;
}

/** The checks of the shared members. Unknown members are refused, because a misspelt ability would skip cases. */
export const harnessChecks: OptionChecks<Harness<unknown>> = {
  create: mustBe.required(mustBe.function),
  limitSeconds: mustBe.seconds,
};

export const DEFAULT_LIMIT_SECONDS = 60;
