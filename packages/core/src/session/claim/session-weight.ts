import { bytesOf } from '../../json.ts';
import type { Message } from '../../state/messages/messages.ts';
import { knownSize, writtenPartsOf } from '../store/content/written-parts.ts';
import type { AgentSession } from '../session.ts';

/** How much of the heap a session takes. */
export interface SessionWeight {
  /** Bytes of the heap: an estimate, right to about a quarter. */
  readonly heap: number;
  /** The bytes of heap for each byte of JSON, in messages of the session that had this size. */
  readonly ratio: number;
  readonly ratioOfSize: number;
}

// Measured in V8, as Node 24 has it.
/** The bytes of a session without content. */
const SESSION = 5_500;
/** The bytes of an element of a list beside its content: its place, its position for references, caches of requests. */
const ELEMENT = 350;
const OBJECT = 32;
const SLOT = 8;
const NUMBER = 16;
const STRING = 24;

/** The number of messages that are weighed. */
const SAMPLE = 8;

/**
 * Estimates the heap that a session takes. JSON of numbers and short texts takes several times its bytes, a long text as
 * many bytes as it has letters, or twice as many. A sample of the messages shows the ratio, and is taken again when the
 * session has doubled. Returns `undefined` for a session that this process neither planned nor restored.
 */
export function weighSession(session: AgentSession, before?: SessionWeight): SessionWeight | undefined {
  const size = knownSize(session);
  if (size === undefined) return undefined;
  const isKnown = before !== undefined && size < 2 * before.ratioOfSize;
  const { ratio, ratioOfSize } = isKnown ? before : { ratio: ratioIn(session), ratioOfSize: size };
  return { heap: SESSION + ELEMENT * elementsOf(session) + Math.round(size * ratio), ratio, ratioOfSize };
}

function elementsOf(session: AgentSession): number {
  const { lists = new Map() } = writtenPartsOf(session) ?? {};
  return [...lists.values()].reduce((sum, { elements }) => sum + elements.length, 0);
}

/** The bytes of heap for a byte of JSON, in a sample of the messages. */
function ratioIn({ state }: AgentSession): number {
  const { length } = state.messages;
  const step = Math.max(1, length / SAMPLE);
  let [heap, json] = [0, 0];
  for (let at = 0; at < length; at += step) {
    const message = state.messages.at(Math.floor(at)) as Message;
    heap += heapOf(message);
    json += bytesOf(JSON.stringify(message));
  }
  return json === 0 ? 1 : heap / json;
}

/** The bytes of a JSON value beside the slot that holds it. */
function heapOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return STRING + value.length * (isLatin(value) ? 1 : 2);
    case 'number':
      return Number.isSafeInteger(value) && Math.abs(value) < 2 ** 30 ? 0 : NUMBER;
    case 'object':
      return value === null ? 0 : heapOfMembers(Object.values(value));
    default:
      return 0;
  }
}

function heapOfMembers(members: readonly unknown[]): number {
  return members.reduce((sum: number, member) => sum + SLOT + heapOf(member), OBJECT);
}

/** V8 stores a text with a single letter beyond Latin-1 in two bytes for each letter. */
function isLatin(text: string): boolean {
  return !/[^\0-\u00ff]/.test(text);
}
