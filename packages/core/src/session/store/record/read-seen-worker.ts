import {
  DocumentReader,
  readFrozenList,
  readInstant,
  readString,
  shapeReader,
  type Read,
} from '../../../document.ts';
import { StateFormatError } from '../../../errors.ts';
import type { SeenWorker } from '../../session-directory.ts';

const readWorker: Read<SeenWorker> = shapeReader({
  workerName: readString,
  since: readInstant,
  sessionIds: readFrozenList(readString),
  seenAt: readInstant,
});

/**
 * Reads the announcement of a worker from the text that a store saved; `undefined` for an unreadable one. It must not end
 * the list of workers, and its time is over soon.
 */
export function parseSeenWorker(text: string): SeenWorker | undefined {
  try {
    return DocumentReader.read(JSON.parse(text), readWorker);
  } catch (error) {
    if (error instanceof StateFormatError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
