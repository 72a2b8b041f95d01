import { wrongArgument } from '../../arguments.ts';
import { joined, NOTHING } from './frozen-array.ts';

const WIDTH = 32;
const BITS = 5;

type Node<T> = readonly (Node<T> | readonly T[])[];

/** The data that all lists of one lineage share: the lists that grew from one beginning by appending. */
interface Lineage {
  entry: CacheEntry | undefined;
}

/**
 * Lists that were built by appending one after the other. Each of them holds the first elements of the longest one, whose
 * length this is. Appending to a shorter list begins another sequence, so a sequence has no forks, unlike a lineage.
 */
interface Sequence {
  length: number;
}

interface ListFields<T> {
  readonly length: number;
  /** Full chunks of 32 elements, in a tree with 32 branches per node; `levels` is 0 without full chunks. */
  readonly root: Node<T>;
  readonly levels: number;
  /** The last 0 to 31 elements. */
  readonly tail: readonly T[];
}

interface CacheEntry {
  readonly cache: object;
  value: unknown;
  readonly next: CacheEntry | undefined;
}

const EMPTY_NODE: Node<never> = Object.freeze([]);

/**
 * An immutable list whose versions share structure. Appending costs the same for every length, also to an older
 * version: both versions then share their common elements. Lists are deeply frozen. Equal elements give equal structure.
 */
export class List<T> implements Iterable<T> {
  /** The number of elements. */
  readonly length: number;
  #entry: CacheEntry | undefined;
  readonly #lineage: Lineage;
  readonly #sequence: Sequence;
  private readonly root: Node<T>;
  private readonly levels: number;
  private readonly tail: readonly T[];

  private static readonly none: List<never> = new List<never>(
    {
      length: 0,
      root: EMPTY_NODE,
      levels: 0,
      tail: Object.freeze([]),
    },
    { entry: undefined },
    { length: 0 },
  );

  private constructor(fields: ListFields<T>, lineage: Lineage, sequence: Sequence) {
    this.#lineage = lineage;
    this.#sequence = sequence;
    sequence.length = fields.length;
    this.length = fields.length;
    this.root = fields.root;
    this.levels = fields.levels;
    this.tail = fields.tail;
    Object.freeze(this);
  }

  /** Returns the empty list, which is always the same object. */
  static empty<T>(): List<T> {
    return List.none;
  }

  /**
   * Returns a list of the elements, or the argument when it is a list.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not iterable.
   */
  static from<T>(elements: Iterable<T>): List<T> {
    if (elements instanceof List) return elements as List<T>;
    if (typeof (elements as Partial<Iterable<T>> | null | undefined)?.[Symbol.iterator] !== 'function')
      throw wrongArgument(elements, 'an iterable, such as an array');
    return List.empty<T>().concat([...elements]);
  }

  /** True when the list has no elements. */
  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** The last element; `undefined` in an empty list. */
  get last(): T | undefined {
    const { tail } = this;
    return tail.length > 0 ? tail[tail.length - 1] : this.at(-1);
  }

  /** Returns the element at an index, which counts from the end if it is negative; `undefined` outside of the list. */
  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    if (position < 0 || position >= this.length) return undefined;
    return this.chunkAt(position)[position % WIDTH];
  }

  /** Returns a list with the elements added at the end, in amortised O(1) per element. */
  append(...elements: readonly T[]): List<T> {
    return this.concat(elements);
  }

  /**
   * Returns a list with the elements of an array added at the end; `this` when the array is empty.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not an array.
   */
  concat(elements: readonly T[]): List<T> {
    if (!Array.isArray(elements)) throw wrongArgument(elements, 'an array of elements');
    if (elements.length === 0) return this;
    let { root, levels } = this;
    const lineage = this.isEmpty ? { entry: undefined } : this.#lineage;
    const isLongest = !this.isEmpty && this.length === this.#sequence.length;
    const sequence = isLongest ? this.#sequence : { length: 0 };
    const length = this.length + elements.length;
    if (this.tail.length + elements.length < WIDTH) {
      const longerTail = Object.freeze(joined(this.tail, elements));
      return new List({ length, root, levels, tail: longerTail }, lineage, sequence);
    }
    let tail = joined(this.tail, NOTHING);
    let full = (this.length - tail.length) / WIDTH;
    for (let index = 0; index < elements.length; index++) {
      tail.push(elements[index] as T);
      if (tail.length < WIDTH) continue;
      if (levels === 0 || full === WIDTH ** levels) {
        root = Object.freeze([root]);
        levels++;
      }
      root = withChunk(root, levels, full, Object.freeze(tail));
      full++;
      tail = [];
    }
    return new List({ length, root, levels, tail: Object.freeze(tail) }, lineage, sequence);
  }

  /** Returns the elements between two indexes as an array; negative indexes count from the end. */
  slice(from = 0, to = this.length): readonly T[] {
    const result: T[] = [];
    const end = to < 0 ? this.length + to : Math.min(to, this.length);
    for (let position = Math.max(0, from < 0 ? this.length + from : from); position < end;) {
      const chunk = this.chunkAt(position);
      const offset = position % WIDTH;
      const count = Math.min(chunk.length - offset, end - position);
      for (let index = 0; index < count; index++) result.push(chunk[offset + index] as T);
      position += count;
    }
    return result;
  }

  /** Returns the results of a function for all elements, in order, as an array. */
  map<U>(make: (element: T, index: number) => U): U[] {
    requireFunction(make);
    return this.toArray().map((element, index) => make(element, index));
  }

  /** Returns the elements for which a test is true, in order, as an array. */
  filter<U extends T>(test: (element: T, index: number) => element is U): U[];
  filter(test: (element: T, index: number) => boolean): T[];
  filter(test: (element: T, index: number) => boolean): T[] {
    requireFunction(test);
    return this.toArray().filter((element, index) => test(element, index));
  }

  /** Returns the first element for which a test is true. */
  find<U extends T>(test: (element: T, index: number) => element is U): U | undefined;
  find(test: (element: T, index: number) => boolean): T | undefined;
  find(test: (element: T, index: number) => boolean): T | undefined {
    requireFunction(test);
    let position = 0;
    for (const element of this) if (test(element, position++)) return element;
    return undefined;
  }

  /** Returns all elements as a new array. */
  toArray(): T[] {
    return this.slice() as T[];
  }

  /**
   * Counts the elements that this list and another have in common from the start, by identity. Shared parts cost
   * nothing.
   */
  commonLength(other: List<T>): number {
    if (this === other) return this.length;
    if (!(other instanceof List)) throw wrongArgument(other, 'a List, as state.messages is one');
    if (this.#sequence === other.#sequence) return Math.min(this.length, other.length);
    const isSameTree = this.root === other.root;
    let shared = isSameTree ? this.length - this.tail.length : this.commonInTrees(other);
    const end = Math.min(this.length, other.length);
    while (shared < end) {
      const [ours, theirs] = [this.chunkAt(shared), other.chunkAt(shared)];
      const count = Math.min(end - shared, WIDTH);
      let same = 0;
      while (same < count && ours[same] === theirs[same]) same++;
      shared += same;
      if (same < count) break;
    }
    return shared;
  }

  /**
   * Returns the elements that were appended to `other` to create this list; `undefined` when this list does not begin
   * with all elements of `other`.
   */
  since(other: List<T>): readonly T[] | undefined {
    return this.commonLength(other) === other.length ? this.slice(other.length) : undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let position = 0; position < this.length; position += WIDTH) yield* this.chunkAt(position);
  }

  toJSON(): T[] {
    return this.toArray();
  }

  /** @internal */
  static entryOf(list: List<unknown>, cache: object): CacheEntry | undefined {
    return entryOf(list.#entry, cache);
  }

  /** @internal */
  static addEntry(list: List<unknown>, cache: object, value: unknown): void {
    list.#entry = { cache, value, next: list.#entry };
  }

  /** @internal */
  static lineageOf(list: List<unknown>): { entry: CacheEntry | undefined } {
    return list.#lineage;
  }

  private chunkAt(position: number): readonly T[] {
    if (position >= this.length - this.tail.length) return this.tail;
    let node: Node<T> = this.root;
    for (let level = this.levels; level > 0; level--) {
      node = node[(position >>> (BITS * level)) % WIDTH] as Node<T>;
    }
    return node as unknown as readonly T[];
  }

  private commonInTrees(other: List<T>): number {
    const levels = Math.min(this.levels, other.levels);
    return commonInTree(this.leftmost(levels), other.leftmost(levels), levels);
  }

  /** Returns the leftmost subtree with the given number of levels. */
  private leftmost(levels: number): Node<T> {
    let node = this.root;
    for (let level = this.levels; level > levels; level--) node = node[0] as Node<T>;
    return node;
  }
}

/**
 * Caches a value with each list, as a WeakMap would, but without cost for the garbage collector, which visits every
 * entry of a WeakMap. Create few caches, one for a module: a value lives as long as its list.
 */
export class ListCache<V> {
  get(list: List<unknown>): V | undefined {
    return List.entryOf(list, this)?.value as V | undefined;
  }

  set(list: List<unknown>, value: V): void {
    if (list.isEmpty) return; // all empty lists are one object
    const entry = List.entryOf(list, this);
    if (entry) entry.value = value;
    else List.addEntry(list, this, value);
  }
}

/**
 * Caches a value for the lists of one lineage: the lists that grew from one beginning by appending. Each of them finds
 * the value that was set last, also a fork or a shorter list. Therefore store the list in the value, and compare the
 * two lists by `since` or `commonLength`. It is like a `WeakMap` without cost for the garbage collector. A value lives
 * as long as its lists: create one cache for a module, not one for each object. Drivers cache converted conversations
 * this way.
 */
export class LineageCache<V> {
  /** Returns the value of a list's lineage. */
  get(list: List<unknown>): V | undefined {
    return entryOf(List.lineageOf(list).entry, this)?.value as V | undefined;
  }

  /** Replaces the value of a list's lineage. An empty list has no lineage: all empty lists are one object. */
  set(list: List<unknown>, value: V): void {
    if (list.isEmpty) return;
    const lineage = List.lineageOf(list);
    const entry = entryOf(lineage.entry, this);
    if (entry) entry.value = value;
    else lineage.entry = { cache: this, value, next: lineage.entry };
  }
}

/** @throws TypeError `ARGUMENT_INVALID` */
function requireFunction(value: unknown): void {
  if (typeof value !== 'function') throw wrongArgument(value, 'a function of an element');
}

function entryOf(first: CacheEntry | undefined, cache: object): CacheEntry | undefined {
  let entry = first;
  while (entry && entry.cache !== cache) entry = entry.next;
  return entry;
}

function withChunk<T>(node: Node<T>, level: number, chunkIndex: number, chunk: readonly T[]): Node<T> {
  const copy = joined(node, NOTHING);
  const slot = Math.floor(chunkIndex / WIDTH ** (level - 1)) % WIDTH;
  copy[slot] =
    level === 1
      ? chunk
      : withChunk((copy[slot] as Node<T> | undefined) ?? EMPTY_NODE, level - 1, chunkIndex, chunk);
  return Object.freeze(copy);
}

/** Counts the elements in the subtrees that two trees share from the start. */
function commonInTree<T>(left: Node<T>, right: Node<T>, level: number): number {
  let shared = 0;
  const end = Math.min(left.length, right.length);
  for (let slot = 0; slot < end; slot++) {
    const [a, b] = [left[slot], right[slot]];
    if (a !== b) return level > 1 ? shared + commonInTree(a as Node<T>, b as Node<T>, level - 1) : shared;
    shared += subtreeLength(a as Node<T>, level - 1);
  }
  return shared;
}

function subtreeLength<T>(node: Node<T>, level: number): number {
  if (level === 0) return node.length;
  return (node.length - 1) * WIDTH ** level + subtreeLength(node.at(-1) as Node<T>, level - 1);
}
