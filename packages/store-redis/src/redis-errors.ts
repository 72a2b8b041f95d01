/** What an error of the client or the server means for a command. */
export interface Failure {
  /** May the server have done what it was asked? */
  readonly isAmbiguous: boolean;
  /** May it be otherwise in a moment? */
  readonly isPassing: boolean;
}

/** A server in transition refused before it did anything. */
const NOT_NOW = /^(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|BUSY|NOSCRIPT|MOVED|ASK)\b/;
/** A server refused before it did anything, and will as long as somebody changes nothing. */
const REFUSED = /^(OOM|NOREPLICAS|MISCONF|NOAUTH|WRONGPASS|NOPERM|DENIED)\b/;
/** A client without offline queue sent nothing. */
const NOT_SENT = /enableOfflineQueue options? is false/;

/** A node of a Cluster does not have the slot, or not all of it. */
const ELSEWHERE = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/;

/** Whether a client of a Cluster can send the command to another node. Nothing was done. */
export function isOfCluster(error: unknown): boolean {
  return error instanceof Error && ELSEWHERE.test(error.message);
}

/** Does a key hold something else than was asked for? Then nothing was done. */
export function isOtherType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

/** Why a server refused a transaction: because of the first of its commands that it refused. */
export function reasonOf(error: unknown): unknown {
  const isDiscarded = error instanceof Error && error.message.startsWith('EXECABORT');
  if (!isDiscarded || !('previousErrors' in error) || !Array.isArray(error.previousErrors)) return error;
  return error.previousErrors[0] ?? error;
}

/** What went wrong. All that is not known here was a lost connection in one of its many words, or a time-out. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (NOT_NOW.test(message) || NOT_SENT.test(message)) return { isAmbiguous: false, isPassing: true };
  if (REFUSED.test(message)) return { isAmbiguous: false, isPassing: false };
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return { isAmbiguous: true, isPassing: !isReply };
}
