import type { InferenceRequest, RefusedPlace } from '@holdfast/core/driver';
import { apiCallError, wordsOf } from '../errors/error-facts.ts';
import { errorKindOf } from '../errors/error-kind.ts';
import { isRouted } from '../forms/form-of.ts';
import type { CalledModel } from '../values/called-model.ts';
import { member } from '../values/member.ts';
import { KNOWN_PLACES, type KnownPlace } from './known-places.ts';
import { messagesAt, type PlaceInList } from './sent-messages.ts';

/** A list of messages, as a request has it. */
interface SentList {
  readonly name: string;
  readonly elements: readonly unknown[];
}

const UNKNOWN: RefusedPlace = Object.freeze({ messages: Object.freeze([]) });

/**
 * Returns the place in a request that the provider refused, as far as the text of its error tells it; `undefined` for an
 * error that is no refusal by a provider. The request that the error holds tells which messages stand at the place, so that
 * no package of the AI SDK must be known.
 */
export function refusedPlaceOf(
  error: unknown,
  model: CalledModel,
  request: Pick<InferenceRequest, 'messages' | 'systemPrompt'>,
): RefusedPlace | undefined {
  if (errorKindOf(error) !== 'invalidRequest') return undefined;
  const call = apiCallError(error);
  if (call === undefined) return error instanceof Error ? undefined : UNKNOWN;
  const list = sentList(call.requestBodyValues);
  if (list === undefined || isRouted(model)) return UNKNOWN;
  const text = wordsOf(error);
  for (const row of KNOWN_PLACES) {
    if (row.provider?.test(model.provider) === false || (row.list ?? list.name) !== list.name) continue;
    const found = row.says.exec(text);
    const place = found?.groups && placeIn(list.elements, row, found.groups);
    if (place) return { path: found.groups?.['id'] ?? found[0], messages: messagesAt(place, request) };
  }
  return UNKNOWN;
}

function sentList(body: unknown): SentList | undefined {
  for (const name of ['messages', 'input', 'contents']) {
    const elements = member(body, name);
    if (Array.isArray(elements)) return { name, elements };
  }
  return undefined;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** The place that a text names; `undefined` when the request has no such place. */
function placeIn(
  elements: readonly unknown[],
  { first = 0, isLast = false }: KnownPlace,
  { index, inside = '', role, id }: Groups,
): PlaceInList | undefined {
  const at =
    id === undefined
      ? Number(index) - first
      : elements[isLast ? 'findLastIndex' : 'findIndex']((element) => hasText(element, id));
  const element = elements[at];
  if (typeof element !== 'object' || element === null) return undefined;
  if (role !== undefined && member(element, 'role') !== role) return undefined;
  const part = partAt(element, inside, first);
  return part && { elements, element, part };
}

/** The innermost element of a list on the path; `undefined` when the path has an index that is not there. */
function partAt(element: object, inside: string, first: number): object | undefined {
  let part = element;
  let value: unknown = element;
  for (const name of inside.match(/\w+/g) ?? []) {
    const isIndex = /^\d+$/.test(name);
    const next = member(value, isIndex ? String(Number(name) - first) : name);
    if (isIndex && next === undefined) return undefined;
    if (isIndex && typeof next === 'object' && next !== null) part = next;
    if (isIndex || (typeof next === 'object' && next !== null)) value = next; // packages and providers name types in paths
  }
  return part;
}

/** True when a text in the value is exactly this. */
function hasText(value: unknown, text: string, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > 4) return value === text;
  return Object.values(value).some((inner) => hasText(inner, text, depth + 1));
}
