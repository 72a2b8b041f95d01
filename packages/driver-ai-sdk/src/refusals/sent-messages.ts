import { textOf, type Message } from '@holdfast/core';
import type { InferenceRequest, MessagePart } from '@holdfast/core/driver';
import { member } from '../values/member.ts';

/** A place in the list of messages of a provider's request. */
export interface PlaceInList {
  readonly elements: readonly unknown[];
  /** The element of the list. */
  readonly element: object;
  /** The part of the element; the element itself when the place is no smaller. */
  readonly part: object;
}

/**
 * Finds the message at a place of the list, and returns its index, or the indexes of all messages that may be there; none when
 * this cannot be told. Packages join and split messages and move those of the system, but they keep the order of texts and ids.
 * A text that occurs as often in the list as in the messages therefore tells its message. A part without such a text lies
 * between its neighbours.
 */
export function messagesAt(
  place: PlaceInList,
  { messages, systemPrompt }: Pick<InferenceRequest, 'messages' | 'systemPrompt'>,
): readonly number[] {
  const all = messages.toArray();
  const read = readList(place);
  const owners = ownersOf(read.texts, all, systemPrompt);
  if (!isOrdered(owners)) return [];
  const own = new Set(owners.slice(...read.part).filter((owner) => owner !== undefined));
  const [least, most] =
    own.size > 0 ? [Math.min(...own), Math.max(...own)] : between(owners, read, all.length);
  return all.flatMap(({ role }, index) => {
    if (index < least || index > most) return [];
    return own.has(index) || fits(role, place.element) ? [index] : [];
  });
}

/** A part of a list of texts: the first position, and the one after the last. */
type Span = readonly [start: number, end: number];

interface ReadList {
  readonly texts: readonly string[];
  /** The texts of the element and of the part. */
  readonly element: Span;
  readonly part: Span;
}

/** The texts of a list in their order. */
function readList({ elements, element, part }: PlaceInList): ReadList {
  const texts: string[] = [];
  const spans = new Map<unknown, Span>();
  const read = (value: unknown, depth: number): void => {
    const start = texts.length;
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH)
      for (const [name, inner] of Object.entries(value)) if (!NAMES.has(name)) read(inner, depth + 1);
    if (value === element || value === part) spans.set(value, [start, texts.length]);
  };
  read(elements, 0);
  const none: Span = [0, 0];
  return { texts, element: spans.get(element) ?? none, part: spans.get(part) ?? none };
}

/** A text in a result in a message of Bedrock is as deep as this. */
const MAX_DEPTH = 9;

/** The members that have no text of the conversation. */
const NAMES: ReadonlySet<string> = new Set(['role', 'type', 'name']);

/** The index of the message that each text is from, where this is certain; -1 for the system prompt. */
function ownersOf(
  texts: readonly string[],
  messages: readonly Message[],
  systemPrompt = '',
): readonly (number | undefined)[] {
  const said = new Map([[systemPrompt, [-1]]]);
  for (const [index, message] of messages.entries())
    for (const text of textsOf(message)) {
      const known = said.get(text);
      if (known) known.push(index);
      else said.set(text, [index]);
    }
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const seen = new Map<string, number>();
  return texts.map((text) => {
    const count = seen.get(text) ?? 0;
    seen.set(text, count + 1);
    const indexes = said.get(text);
    return indexes?.length === counts.get(text) ? indexes?.[count] : undefined;
  });
}

function isOrdered(owners: readonly (number | undefined)[]): boolean {
  const known = owners.filter((owner) => owner !== undefined);
  return known.every((owner, at) => at === 0 || owner >= (known[at - 1] as number));
}

/** The texts and ids of a message that a request may have. */
function textsOf(message: Message): readonly string[] {
  const parts: readonly MessagePart[] = message.content;
  const texts = parts.flatMap(textsOfPart);
  const whole = textOf(message);
  const options = new Set([message, ...parts].flatMap(optionsOf));
  return [...texts, ...(texts.includes(whole) ? [] : [whole]), ...options].filter((text) => text !== '');
}

function textsOfPart(part: MessagePart): readonly string[] {
  if (part.type === 'text' || part.type === 'reasoning') return [part.text];
  if (part.type === 'tool-call') return [part.toolCallId];
  if (part.type !== 'tool-result') return [];
  const { output, toolCallId } = part;
  if (output.type === 'text' || output.type === 'error-text') return [toolCallId, output.value];
  if (output.type !== 'content') return [toolCallId];
  return [toolCallId, ...output.value.flatMap((one) => (one.type === 'text' ? [one.text] : []))];
}

/** The ids and signatures of a provider. */
function optionsOf({ providerOptions = {} }: Pick<MessagePart, 'providerOptions'>): readonly string[] {
  return Object.values(providerOptions)
    .flatMap((members) => Object.values(members ?? {}))
    .filter((value) => typeof value === 'string');
}

/** The range of messages between the neighbours of a part. It has a neighbour that shares the element, and both when it is empty. */
function between(owners: ReturnType<typeof ownersOf>, { element, part }: ReadList, length: number): Span {
  const before = owners.findLastIndex((owner, at) => owner !== undefined && at < part[0]);
  const after = owners.findIndex((owner, at) => owner !== undefined && at >= part[1]);
  const [first = -1, last = length] = [owners[before], owners[after]];
  const least = before >= element[0] ? first : first + 1;
  const most = after !== -1 && after < element[1] ? last : last - 1;
  return least > most ? [first, last] : [least, most];
}

/** The roles of messages that an element with a role, or an item of a type, can stand for. */
const ROLES: Readonly<Record<string, readonly Message['role'][]>> = {
  system: ['system'],
  developer: ['system'],
  user: ['user', 'tool'],
  assistant: ['assistant'],
  model: ['assistant'],
  tool: ['tool'],
  function_call: ['assistant'],
  reasoning: ['assistant'],
  item_reference: ['assistant'],
  function_call_output: ['tool'],
};

function fits(role: Message['role'], element: object): boolean {
  const name = member(element, 'role') ?? member(element, 'type');
  const roles = typeof name === 'string' && Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
  return roles?.includes(role) ?? true;
}
