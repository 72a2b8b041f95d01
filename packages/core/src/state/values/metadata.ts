import { DocumentReader, readJsonObject, type Read } from '../../document.ts';
import { isSameJson, toJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { requireObject, requireString } from '../../arguments.ts';

/** The name of a metadata value and the type of that value. */
export interface MetadataKey<T extends JsonValue> {
  readonly name: string;
  /** Never set at run time. It carries the type. */
  readonly type?: T;
}

/**
 * Creates a typed key. Two keys with the same name are the same key.
 * @example const customer = metadataKey<string>('customer');
 */
export function metadataKey<T extends JsonValue>(name: string): MetadataKey<T> {
  return Object.freeze({ name });
}

/** JSON values that an application stores beside a conversation. */
export class Metadata {
  static readonly empty: Metadata = new Metadata(Object.freeze({}));

  /** All values, as a frozen JSON object. */
  readonly values: JsonObject;

  private constructor(values: JsonObject) {
    this.values = values;
    Object.freeze(this);
  }

  /**
   * Creates metadata from the members of a plain object. @throws HoldfastError `NOT_JSON` for a value that is not JSON.
   */
  static from(values: Metadata | { readonly [name: string]: unknown }): Metadata {
    if (values instanceof Metadata) return values;
    const json = toJsonObject(values);
    return Object.keys(json).length === 0 ? Metadata.empty : new Metadata(json);
  }

  /** Returns the value of a key; `undefined` when it is absent. The key declares the type, which is not checked. */
  get<T extends JsonValue>(key: MetadataKey<T> | string): T | undefined {
    const name = metadataName(key);
    return Object.hasOwn(this.values, name) ? (this.values[name] as T) : undefined;
  }

  has(key: MetadataKey<JsonValue> | string): boolean {
    return Object.hasOwn(this.values, metadataName(key));
  }

  /** Returns a copy with one value set, or `this` when nothing changes. */
  with<T extends JsonValue>(key: MetadataKey<T> | string, value: T): Metadata {
    const name = metadataName(key);
    const json = toJsonObject({ [name]: value })[name] ?? null;
    if (this.has(name) && isSameJson(this.values[name], json)) return this;
    return new Metadata(Object.freeze({ ...this.values, [name]: json }));
  }

  /** Returns a copy without one value, or `this` when the value is absent. */
  without(key: MetadataKey<JsonValue> | string): Metadata {
    const name = metadataName(key);
    if (!this.has(name)) return this;
    return Metadata.from(Object.fromEntries(Object.entries(this.values).filter(([other]) => other !== name)));
  }

  toJSON(): JsonObject {
    return this.values;
  }

  /** @throws StateFormatError for an invalid document. */
  static fromJSON(json: unknown): Metadata {
    return DocumentReader.read(json, readMetadata);
  }
}

export const readMetadata: Read<Metadata> = (reader, value) => Metadata.from(readJsonObject(reader, value));

function metadataName(key: { readonly name: string } | string): string {
  if (typeof key === 'string') return key;
  requireObject(key, 'a name, or a key, as returned by metadataKey()');
  requireString(key.name, 'a key with a string as its name');
  return key.name;
}
