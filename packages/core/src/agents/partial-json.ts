import { setMember, type JsonValue } from '../json.ts';
import type { AgentEvent } from '../loop/steps/events.ts';

type Mode =
  | 'start'
  | 'fence'
  | 'value'
  | 'firstItem'
  | 'firstKey'
  | 'key'
  | 'colon'
  | 'string'
  | 'number'
  | 'literal'
  | 'afterValue'
  | 'complete'
  | 'broken';

/** An object or array that has begun and has not ended. */
type Open = { members: number } & (
  | { readonly object: Record<string, JsonValue>; key: string }
  | { readonly array: JsonValue[] }
);

/** The words of JSON, by their first character. */
const LITERALS: ReadonlyMap<string, JsonValue> = new Map(
  [true, false, null].map((value) => [String(value).charAt(0), value]),
);
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const STARTED_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
/** How many members cost as much as a new object. */
const COST_OF_OBJECT = 8;
const HEX = /^[\dA-Fa-f]+$/;

/**
 * Reads the text of a JSON value as it arrives. `value` is the value so far: incomplete strings have the characters that
 * have arrived, and a member without a value is absent. A Markdown code fence before the value is skipped. The cost of a
 * piece of text depends on its length, and the cost of `value` on `valueCost`.
 */
export class PartialJson {
  private mode: Mode = 'start';
  private readonly open: Open[] = [];
  private root: JsonValue | undefined;
  /** The string, number or literal that has begun. */
  private token = '';
  /** The escape sequence that has begun in a string, from its backslash. */
  private escape = '';
  private isKey = false;
  /** The number of members of the objects and arrays that have not ended. */
  private openMembers = 0;

  /** Reads the next piece of the text. Returns true when the value may have grown. */
  push(text: string): boolean {
    const isOpen = !this.isOver();
    for (let at = 0; at < text.length && !this.isOver();) {
      at = this.mode === 'string' ? this.readString(text, at) : this.readChar(text, at);
    }
    return isOpen && this.mode !== 'broken';
  }

  /** True when the text is not JSON. */
  get isBroken(): boolean {
    return this.mode === 'broken';
  }

  /** The frozen value so far; `undefined` before it begins. The objects and arrays that have ended are shared. */
  get value(): JsonValue | undefined {
    let inner = this.openToken();
    for (const container of this.open.toReversed()) {
      if ('array' in container)
        inner = Object.freeze(inner === undefined ? [...container.array] : [...container.array, inner]);
      else {
        const members = { ...container.object };
        if (inner !== undefined) setMember(members, container.key, inner);
        inner = Object.freeze(members);
      }
    }
    return inner === undefined ? this.root : inner;
  }

  /** The number of members that `value` copies. An object that has not ended and the digits of a number count too. */
  get valueCost(): number {
    const digits = this.mode === 'number' ? this.token.length : 0;
    return this.openMembers + COST_OF_OBJECT * this.open.length + digits;
  }

  private isOver(): boolean {
    return this.mode === 'complete' || this.mode === 'broken';
  }

  /** Reads one character outside a string, and returns the place of the next one. */
  private readChar(text: string, at: number): number {
    const char = text.charAt(at);
    if (this.mode === 'number' && !/[\d+\-.eE]/.test(char)) {
      this.endNumber();
      return at;
    }
    if (this.mode === 'number' || this.mode === 'literal') this.growToken(char);
    else if (this.mode === 'fence') this.mode = char === '\n' ? 'value' : 'fence';
    else if (!/\s/.test(char)) this.readMark(char);
    return at + 1;
  }

  /** Reads a mark of the syntax, or the first character of a value. */
  private readMark(char: string): void {
    const { mode } = this;
    if (char === '`' && mode === 'start') this.mode = 'fence';
    else if (char === ':' && mode === 'colon') this.mode = 'value';
    else if (char === ',' && mode === 'afterValue') this.mode = this.isInObject() ? 'key' : 'value';
    else if (char === '}' && (mode === 'firstKey' || (mode === 'afterValue' && this.isInObject())))
      this.close();
    else if (char === ']' && (mode === 'firstItem' || (mode === 'afterValue' && !this.isInObject())))
      this.close();
    else if (mode === 'firstKey' || mode === 'key') this.beginKey(char);
    else if (mode === 'start' || mode === 'value' || mode === 'firstItem') this.beginValue(char);
    else this.mode = 'broken';
  }

  private beginKey(char: string): void {
    this.isKey = true;
    this.token = '';
    this.mode = char === '"' ? 'string' : 'broken';
  }

  private beginValue(char: string): void {
    this.isKey = false;
    this.token = char === '"' ? '' : char;
    if (char === '"') this.mode = 'string';
    else if (char === '{') this.begin({ object: {}, key: '', members: 0 }, 'firstKey');
    else if (char === '[') this.begin({ array: [], members: 0 }, 'firstItem');
    else if (LITERALS.has(char)) this.mode = 'literal';
    else this.mode = /[-\d]/.test(char) ? 'number' : 'broken';
  }

  private begin(container: Open, mode: Mode): void {
    this.open.push(container);
    this.mode = mode;
  }

  private isInObject(): boolean {
    const container = this.open.at(-1);
    return container !== undefined && 'object' in container;
  }

  private close(): void {
    const container = this.open.pop();
    if (container === undefined) return;
    this.openMembers -= container.members;
    this.end(Object.freeze('array' in container ? container.array : container.object));
  }

  /** Adds a value that has ended to the object or array around it. */
  private end(value: JsonValue): void {
    const container = this.open.at(-1);
    this.token = '';
    this.mode = container ? 'afterValue' : 'complete';
    if (container === undefined) {
      this.root = value;
      return;
    }
    container.members++;
    this.openMembers++;
    if ('array' in container) container.array.push(value);
    else setMember(container.object, container.key, value);
  }

  private growToken(char: string): void {
    this.token += char;
    if (this.mode !== 'literal') return;
    const value = LITERALS.get(this.token.charAt(0)) ?? null;
    const word = JSON.stringify(value);
    if (this.token === word) this.end(value);
    else if (!word.startsWith(this.token)) this.mode = 'broken';
  }

  private endNumber(): void {
    if (NUMBER.test(this.token)) this.end(Number(this.token));
    else this.mode = 'broken';
  }

  /** Reads a string up to its end, or to the end of the text, and returns the place after it. */
  private readString(text: string, from: number): number {
    let at = from;
    if (this.escape !== '') return this.readEscape(text, at);
    while (at < text.length && text[at] !== '"' && text[at] !== '\\' && text.charCodeAt(at) >= 0x20) at++;
    this.token += text.slice(from, at);
    if (at === text.length) return at;
    if (text[at] === '"') this.endString();
    else if (text[at] === '\\') this.escape = '\\';
    else this.mode = 'broken';
    return at + 1;
  }

  private readEscape(text: string, at: number): number {
    this.escape += text.charAt(at);
    const kind = this.escape.charAt(1);
    if (kind !== 'u') this.endEscape(ESCAPES.get(kind));
    else if (this.escape.length > 2 && !HEX.test(this.escape.slice(2))) this.mode = 'broken';
    else if (this.escape.length === 6)
      this.endEscape(String.fromCharCode(Number.parseInt(this.escape.slice(2), 16)));
    return at + 1;
  }

  private endEscape(char: string | undefined): void {
    this.escape = '';
    if (char === undefined) this.mode = 'broken';
    else this.token += char;
  }

  private endString(): void {
    const container = this.open.at(-1);
    const text = this.token;
    if (!this.isKey) return this.end(text);
    if (container && 'object' in container) container.key = text;
    this.mode = 'colon';
  }

  /** The value of the string, number or literal that has begun. */
  private openToken(): JsonValue | undefined {
    if (this.mode === 'string') return this.isKey ? undefined : this.token;
    if (this.mode === 'literal') return LITERALS.get(this.token.charAt(0));
    const started = this.mode === 'number' ? STARTED_NUMBER.exec(this.token)?.[0] : undefined;
    return started === undefined ? undefined : Number(started);
  }
}

/** A value of which members, items and the ends of strings may be missing. */
export type PartialOutput<T> = T extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: PartialOutput<T[Name]> }
    : T;

/** The cost of a value that any text may have. */
const SMALL_COST = 256;
/** The cost of a larger value for each character that has arrived since the value before. */
const COST_PER_CHARACTER = 8;

/**
 * Yields the JSON value of each response while the model writes it, each time it has grown. A value is a copy of the lists
 * and objects that have not ended. When they have hundreds of members, values are further apart, so that all of them
 * together cost linear time.
 */
export async function* partialsOf<T>(
  events: AsyncIterable<AgentEvent>,
): AsyncGenerator<PartialOutput<T>, void> {
  let json = new PartialJson();
  let arrived = 0;
  let part: string | undefined;
  for await (const event of events) {
    if (event.type === 'inference-started') [json, arrived] = [new PartialJson(), 0];
    if (event.type !== 'inference-delta' || event.delta.type !== 'text') continue;
    // A comment of the model before its answer is no JSON.
    if (event.delta.id !== part && json.isBroken) [json, arrived] = [new PartialJson(), 0];
    part = event.delta.id;
    if (!json.push(event.delta.text)) continue;
    arrived += event.delta.text.length;
    if (json.valueCost > Math.max(SMALL_COST, COST_PER_CHARACTER * arrived)) continue;
    arrived = 0;
    const { value } = json;
    // The caller names the type that the model is asked to write. The text is not checked yet.
    if (value !== undefined) yield value as PartialOutput<T>;
  }
}
