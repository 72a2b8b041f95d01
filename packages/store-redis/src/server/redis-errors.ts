/** The meaning of an error of the client or the server for a command. */
export interface Failure {
  /** Whether the server may have executed the command. */
  readonly isAmbiguous: boolean;
  /** Whether another attempt may succeed. */
  readonly isTransient: boolean;
}

/** A server in transition refused the command and changed nothing. */
const IN_TRANSITION = /^(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|BUSY|NOSCRIPT|MOVED|ASK)\b/;
/** A server refused the command, changed nothing, and refuses every further attempt until an operator acts. */
const REFUSED =
  /^(?:(?:OOM|NOREPLICAS|MISCONF|NOAUTH|WRONGPASS|NOPERM|DENIED)\b|ERR DB index is out of range)/;
/** A client without an offline queue sent nothing. */
const NOT_SENT = /enableOfflineQueue options? is false/;
/** A node of a Cluster does not hold the slot, or only a part of it. */
const OTHER_NODE = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/;

/** Whether a client of a Cluster can send the command to another node. Nothing was changed. */
export function isForOtherNode(error: unknown): boolean {
  return error instanceof Error && OTHER_NODE.test(error.message);
}

/** Whether a key holds a value of another type than the command expects. Nothing was changed. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

/** For a transaction that the server discarded, the error of the first command that it refused; else the same error. */
export function causeOfDiscard(error: unknown): unknown {
  const isDiscarded = error instanceof Error && error.message.startsWith('EXECABORT');
  if (!isDiscarded || !('previousErrors' in error) || !Array.isArray(error.previousErrors)) return error;
  return error.previousErrors[0] ?? error;
}

/** Classifies an error. An unknown error counts as a lost connection, whose messages vary, or as a timeout. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (IN_TRANSITION.test(message) || NOT_SENT.test(message)) return { isAmbiguous: false, isTransient: true };
  if (REFUSED.test(message)) return { isAmbiguous: false, isTransient: false };
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return { isAmbiguous: true, isTransient: !isReply };
}
