import type { Read } from '../../document.ts';
import { List } from './list.ts';

/** Stands in a document for a value that was read before. */
export class KnownValue<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/** Returns a reader that takes a value that was read before as it is. */
export function orKnown<T>(read: Read<T>): Read<T> {
  return (reader, value) => (value instanceof KnownValue ? (value.value as T) : read(reader, value));
}

/** Stands in a document for a list whose first elements were read before. */
export class GrownList<T> {
  readonly known: List<T>;
  readonly added: readonly unknown[];

  constructor(known: List<T>, added: readonly unknown[]) {
    this.known = known;
    this.added = added;
  }

  /** Returns the list that stands in a document. */
  static of<T>(value: unknown): GrownList<T> {
    return value instanceof GrownList
      ? (value as GrownList<T>)
      : new GrownList(List.empty<T>(), value as readonly unknown[]);
  }
}

/** Returns a reader of lists, which takes the elements that were read before as they are. */
export function listReader<T>(read: Read<T>): Read<List<T>> {
  return (reader, value) => {
    const { known, added } = GrownList.of<T>(value);
    return known.concat(reader.list(added, read, known.length));
  };
}
