/** A source of random choices. The same seed gives the same choices. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed + 1, 0x9e_37_79_b1) >>> 0;
  }

  /** A number from 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True in this share of all cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number from `from` to `to`. */
  number(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Returns a random element. */
  of<T>(values: readonly [T, ...(readonly T[])]): T {
    return values[this.number(0, values.length - 1)] ?? values[0];
  }

  /** A list of `from` to `to` values. */
  list<T>(from: number, to: number, make: (index: number) => T): readonly T[] {
    return Array.from({ length: this.number(from, to) }, (_, index) => make(index));
  }
}
