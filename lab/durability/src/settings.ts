/** Where a process works. */
interface Place {
  /** The name of a store in `STORES`. */
  readonly store: string;
  /** The location of the store. */
  readonly location: string;
  /** The path of the journal. */
  readonly journal: string;
}

const DEFAULTS = {
  /** The fault of the process, as `faultText` makes it. */
  fault: '',
  /** The protection that the process lacks. */
  without: '',
  /** The milliseconds that a call of the model takes, and a tool before and after its effect. */
  pace: 0,
  leaseSeconds: 0.4,
  /** The sessions that a serving process works on at once. */
  concurrency: 4,
  /** The processes that a session may kill. */
  maxAttempts: 1_000,
  /** True when suspect sessions run in a process of their own. */
  isIsolating: false,
  /** The location of the queue of the engine. Without one, the engine is in the memory of the process. */
  queue: '',
  /** The seconds between two sweeps of a process with a queue. */
  sweepSeconds: 5,
  /** The seconds that a process with a queue waits for its tools when it stops. */
  stopSeconds: 10,
  /** A file: while it exists, the provider refuses all calls. */
  outageFile: '',
};

type Options = typeof DEFAULTS;

/** The settings of a process. */
export type WorkerSettings = Place & { readonly [Name in keyof Options]?: Options[Name] | undefined };

/** The environment of a process with these settings. */
export function environmentOf(settings: WorkerSettings): Readonly<Record<string, string>> {
  return { SETTINGS: JSON.stringify(settings) };
}

/** The settings of this process. */
export function readSettings(): Place & Options {
  return { ...DEFAULTS, ...(JSON.parse(process.env['SETTINGS'] ?? '') as Place) };
}
