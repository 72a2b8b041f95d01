import { fstatSync, openSync, readSync, writeSync } from 'node:fs';

/** The type of an entry: a finished action, or an action that is about to begin. */
type EntryType = 'claimed' | 'saved' | 'inferring' | 'refused' | 'responded' | 'retried' | 'called' | 'done';

/** One event in one of the processes. */
export interface Entry {
  readonly type: EntryType;
  readonly sessionId: string;
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of the claim under which it was done. */
  readonly epoch: number;
  /** Of the session, as it was claimed or saved. */
  readonly version?: number;
  /** The model's id of a tool call. */
  readonly call?: string;
  readonly tool?: string;
  /** The idempotency key that the call was made under. */
  readonly key?: string;
  /** The instant of the last check that tools may be called. */
  readonly checkedAt?: number;
  /** Ids of the calls that have an outcome in the saved state. */
  readonly finished?: readonly string[];
  /** The number of a call of the model among the steps of the plan, from 1, and the model that was called. */
  readonly step?: number;
  readonly model?: string;
  /** The instant of a call of the model, by the clock of the loop. */
  readonly now?: number;
  /** The id of the execution in the claimed or saved state. */
  readonly execution?: string;
  /** The number of failed calls of the model in the state that was claimed, saved or retried. */
  readonly failures?: number;
  /** Of a suspended state: the instant of the next call of the model; `null` until a retry. */
  readonly waitsUntil?: number | null;
  /** The outage for which a call was refused. */
  readonly outage?: string;
  /** The fallback of the claimed or saved state. */
  readonly fallback?: { readonly model: string; readonly until: number };
}

const NEWLINE = 10;

/**
 * The actions of all processes, in one append-only file: the outside world. One line is one write, so the order of the
 * lines is the order of events, and a killed process has written its actions.
 */
export class Journal {
  private readonly file: number;
  private readonly entries: Entry[] = [];
  /** How much of the file is in the entries, in bytes. */
  private known = 0;
  private readonly silent = new Set<string>();

  constructor(path: string) {
    this.file = openSync(path, 'a+');
  }

  write(entry: Omit<Entry, 'pid' | 'at'>): void {
    if (this.silent.has(entry.sessionId)) return;
    writeSync(this.file, `${JSON.stringify({ ...entry, pid: process.pid, at: Date.now() })}\n`);
  }

  /** Refuses further entries of this process about a session. */
  silence(sessionId: string): void {
    this.silent.add(sessionId);
  }

  /** All entries, of all processes. */
  read(): readonly Entry[] {
    const added = Buffer.alloc(Math.max(0, fstatSync(this.file).size - this.known));
    const length = readSync(this.file, added, 0, added.length, this.known);
    const end = added.subarray(0, length).lastIndexOf(NEWLINE) + 1;
    this.known += end;
    for (const line of added.toString('utf8', 0, end).split('\n')) {
      if (line !== '') this.entries.push(JSON.parse(line) as Entry);
    }
    return this.entries;
  }

  /** By session, each in order. */
  readBySession(): ReadonlyMap<string, readonly Entry[]> {
    return Map.groupBy(this.read(), ({ sessionId }) => sessionId);
  }
}
