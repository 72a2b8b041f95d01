import type { UIMessage } from 'ai';
import { isObject } from '../json/is-same-value.ts';
import type { UIPart } from '../messages/ui-part.ts';
import { isSteered, steeredIds } from '../messages/without-steered.ts';

/** The digests of messages that do not change. */
const known = new WeakMap<UIMessage, number>();

/** Messages whose digest was computed, with the digest after each of them. */
interface Digested {
  readonly messages: readonly UIMessage[];
  readonly digests: readonly number[];
  readonly steered: ReadonlySet<string>;
  /** The number of messages at the beginning that do not change. */
  readonly frozen: number;
}

/** The last messages of each conversation, by its first one. */
const conversations = new WeakMap<UIMessage, Digested>();

/**
 * Returns a short text that is the same for a page and a server exactly when both have the same messages: their ids, and
 * the type, the state and the length of each part. Of a user's text, which an edit can replace by one of equal length, they
 * have each character. A conversation that has grown costs what was added, if its messages do not change.
 */
export function digestOf(messages: readonly UIMessage[]): string {
  const [first] = messages;
  const last = first && conversations.get(first);
  const same = last ? sharedCount(last, messages) : 0;
  const changed = [...steeredIds(messages, same), ...(last ? steeredIds(last.messages, same) : [])];
  const from = changed.length === 0 ? same : 0;
  const steered = from > 0 && last ? last.steered : steeredIds(messages, 0);
  const digests = last?.digests.slice(0, from) ?? [];
  let digest = digests.at(-1) ?? FIRST;
  let frozen = from;
  for (let index = from; index < messages.length; index++) {
    const message = messages[index] as UIMessage;
    if (!isSteered(message, steered)) digest = mixed(digest, digestOfMessage(message));
    digests.push(digest);
    if (frozen === index && Object.isFrozen(message)) frozen++;
  }
  if (first && frozen > 0) conversations.set(first, { messages: [...messages], digests, steered, frozen });
  return (digest >>> 0).toString(36);
}

/** Returns the number of messages at the beginning that both lists have. */
function sharedCount({ messages, frozen }: Digested, others: readonly UIMessage[]): number {
  let count = 0;
  while (count < frozen && messages[count] === others[count]) count++;
  return count;
}

function digestOfMessage(message: UIMessage): number {
  if (!Object.isFrozen(message)) return textDigest(outlineOf(message));
  const digest = known.get(message) ?? textDigest(outlineOf(message));
  known.set(message, digest);
  return digest;
}

function outlineOf({ id, role, parts }: UIMessage): string {
  return [id, role, ...parts.map((part) => partOutline(part, role))].join('\n');
}

function partOutline(part: UIPart, role: UIMessage['role']): string {
  const { type } = part;
  const text = 'text' in part && typeof part.text === 'string' ? part.text : '';
  const state = 'state' in part ? part.state : '';
  return `${type} ${state} ${role === 'user' ? text : text.length}`;
}

/**
 * Returns a short text for all values of a message. A page sends the digest of the message that it continues. When the
 * message of the server has the same digest, the server sends only the changes of it.
 */
export function contentDigestOf(message: UIMessage): string {
  const text = canonicalText(message);
  return [FIRST, PRIME].map((seed) => (textDigest(text, seed) >>> 0).toString(36)).join('-');
}

/** Returns the JSON of a value with the members of each object in order, however it was made. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`);
  return `{${texts.toSorted().join()}}`;
}

/** The offset and the prime of the 32-bit FNV-1a hash. */
const FIRST = 0x811c9dc5;
const PRIME = 0x01000193;

function textDigest(text: string, seed = FIRST): number {
  let digest = seed;
  for (let index = 0; index < text.length; index++) digest = mixed(digest, text.charCodeAt(index));
  return digest;
}

function mixed(digest: number, value: number): number {
  return Math.imul(digest ^ value, PRIME);
}
