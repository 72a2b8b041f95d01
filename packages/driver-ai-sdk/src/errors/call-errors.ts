/** An answer ended, without an error of the provider, before it was complete. */
export class UnfinishedAnswerError extends Error {
  override readonly name = 'UnfinishedAnswerError';
}

/** The call cannot be made: its messages, settings or headers are not valid. */
export class InvalidCallError extends Error {
  override readonly name = 'InvalidCallError';
}

/** The server sent a web page where the stream of an answer was due. */
export class WebPageError extends Error {
  override readonly name = 'WebPageError';
}

/** The server sent one JSON document where the stream of an answer was due. */
export class PlainBodyError extends Error {
  override readonly name = 'PlainBodyError';
}

/** The response ended at a content filter before its first text. */
export class RefusedAnswerError extends Error {
  override readonly name = 'RefusedAnswerError';
}
