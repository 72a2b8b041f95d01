import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts';
import { readMark, type ContentMark } from './content-mark.ts';
import { parsePart, unreadablePart } from './session-content.ts';

/** The list of the closed steps of the execution. */
export const STEPS = 'steps';
/** The list of the messages to which the execution refers and that no section has. */
export const OTHERS = 'otherMessages';
const SECTION = 'messages:';

/** Returns the name of the list with the messages of a section. */
export function listOfSection(section: string): string {
  return SECTION + section;
}

/** Returns the section whose messages a list has; `undefined` for another list. */
export function sectionOfList(list: string): string | undefined {
  return list.startsWith(SECTION) ? list.slice(SECTION.length) : undefined;
}

/** A list in a head. Its mark is absent in a head of another release. */
interface SavedList {
  readonly length: number;
  readonly mark: ContentMark | undefined;
}

/** The part of a saved session that changes with every save. It names the other parts. */
export interface SavedHead {
  readonly version: number;
  readonly document: JsonObject;
  /** The values, with their marks where the head has them. */
  readonly values: ReadonlyMap<string, ContentMark | undefined>;
  readonly lists: ReadonlyMap<string, SavedList>;
}

/** Returns the text of a head whose parts all have marks. */
export function writeHead(
  version: number,
  document: object,
  values: ReadonlyMap<string, ContentMark>,
  lists: ReadonlyMap<string, MarkedList>,
): string {
  const marks: (string | number)[] = [];
  for (const { digest, bytes } of values.values()) marks.push(digest, bytes);
  const listed: object[] = [];
  for (const [name, { elements, mark }] of lists)
    listed.push([name, elements.length, mark.digest, mark.bytes]);
  return JSON.stringify({ version, document, values: [...values.keys()], marks, lists: listed });
}

interface MarkedList {
  readonly elements: { readonly length: number };
  readonly mark: ContentMark;
}

/** @throws StateFormatError for an unreadable head. */
export function readHead(text: string): SavedHead {
  const head = parsePart(text, 'the head');
  if (!isJsonObject(head)) throw unreadablePart('the head', 'an object', head);
  const { version, document, values, marks, lists } = head;
  if (!isDocument(document) || !isListOf(values, isText) || !isListOf(lists, isList))
    throw unreadablePart('the head', 'a document, the names of values, and lists with their lengths', head);
  const markOf = (index: number): ContentMark | undefined =>
    Array.isArray(marks) ? readMark(marks[2 * index], marks[2 * index + 1]) : undefined;
  return {
    version: version as number,
    document,
    values: new Map(values.map((name, index) => [name, markOf(index)])),
    lists: new Map(
      lists.map(([name, length, digest, bytes]) => [name, { length, mark: readMark(digest, bytes) }]),
    ),
  };
}

/** The id of the execution in a head; `undefined` without one. */
export function executionIdOf({ document }: SavedHead): string | undefined {
  const { execution } = document['state'] as JsonObject;
  const id = isJsonObject(execution) ? execution['executionId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

type ListEntry = readonly [name: string, length: number, digest?: JsonValue, bytes?: JsonValue];

const isText = (value: JsonValue): value is string => typeof value === 'string';
const isList = (entry: JsonValue): entry is JsonValue & ListEntry =>
  Array.isArray(entry) && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]);

function isDocument(document: JsonValue | undefined): document is JsonObject {
  return isJsonObject(document) && isJsonObject(document['state']);
}

function isListOf<T extends JsonValue>(
  value: JsonValue | undefined,
  isElement: (element: JsonValue) => element is T,
): value is T[] {
  return Array.isArray(value) && value.every(isElement);
}
