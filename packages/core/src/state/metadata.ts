import type { Read } from '../document.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { DocumentReader, readJsonObject } from '../document.ts';
import { isSameJson, toJsonObject } from '../json.ts';
import { requireObject, requireString } from '../arguments.ts';

/** A name in the metadata together with the type of its value. */
export interface MetadataKey<T extends JsonValue> {
  readonly name: string;
  /** Never there at run time: it carries the type. */
  readonly type?: T;
}

/**
 * A typed key. Two keys of one name are the same key.
 * @example const customer = metadataKey<string>('customer');
 */
export function metadataKey<T extends JsonValue>(name: string): MetadataKey<T> {
  return Object.freeze({ name });
}

/** JSON facts that an application keeps beside a conversation. */
export class Metadata {
  static readonly empty: Metadata = new Metadata(Object.freeze({}));

  /** All of it, as a frozen JSON object. */
  readonly values: JsonObject;

  private constructor(values: JsonObject) {
    this.values = values;
    Object.freeze(this);
  }

  /** Metadata of a plain object's members. @throws HoldfastError `NOT_JSON` when it is not JSON. */
  static from(values: Metadata | { readonly [name: string]: unknown }): Metadata {
    if (values instanceof Metadata) return values;
    const json = toJsonObject(values);
    return Object.keys(json).length === 0 ? Metadata.empty : new Metadata(json);
  }

  /** The value under a key, `undefined` when there is none. The type is what the writer of the key promised. */
  get<T extends JsonValue>(key: MetadataKey<T> | string): T | undefined {
    const name = metadataName(key);
    return Object.hasOwn(this.values, name) ? (this.values[name] as T) : undefined;
  }

  has(key: MetadataKey<JsonValue> | string): boolean {
    return Object.hasOwn(this.values, metadataName(key));
  }

  /** The same with one value set; `this` when it is that value already. */
  with<T extends JsonValue>(key: MetadataKey<T> | string, value: T): Metadata {
    const name = metadataName(key);
    const json = toJsonObject({ [name]: value })[name] ?? null;
    if (this.has(name) && isSameJson(this.values[name], json)) return this;
    return new Metadata(Object.freeze({ ...this.values, [name]: json }));
  }

  /** The same without one value; `this` when it was not there. */
  without(key: MetadataKey<JsonValue> | string): Metadata {
    const name = metadataName(key);
    if (!this.has(name)) return this;
    return Metadata.from(Object.fromEntries(Object.entries(this.values).filter(([other]) => other !== name)));
  }

  toJSON(): JsonObject {
    return this.values;
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): Metadata {
    return DocumentReader.read(json, readMetadata);
  }
}

/** Reads metadata. */
export const readMetadata: Read<Metadata> = (reader, value) => Metadata.from(readJsonObject(reader, value));

function metadataName(key: { readonly name: string } | string): string {
  if (typeof key === 'string') return key;
  requireObject(key, 'a name, or a key as metadataKey() gives it');
  requireString(key.name, 'a key whose name is a string');
  return key.name;
}
