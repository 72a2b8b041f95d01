import type { UIMessage } from 'ai';
import type { UIPart } from '../messages/ui-part.ts';
import { withoutSteered } from '../messages/without-steered.ts';

/** The digests of messages that do not change. */
const known = new WeakMap<UIMessage, number>();

/**
 * Returns a short text that is the same for a page and a server exactly when both have the same messages: their ids, and
 * the type, the state and the length of each part. Of a user's text, which an edit can replace by one of equal length, they
 * have each character.
 */
export function digestOf(messages: readonly UIMessage[]): string {
  let digest = FIRST;
  for (const message of withoutSteered(messages)) digest = mixed(digest, digestOfMessage(message));
  return (digest >>> 0).toString(36);
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

/** The offset and the prime of the 32-bit FNV-1a hash. */
const FIRST = 0x811c9dc5;
const PRIME = 0x01000193;

function textDigest(text: string): number {
  let digest = FIRST;
  for (let index = 0; index < text.length; index++) digest = mixed(digest, text.charCodeAt(index));
  return digest;
}

function mixed(digest: number, value: number): number {
  return Math.imul(digest ^ value, PRIME);
}
