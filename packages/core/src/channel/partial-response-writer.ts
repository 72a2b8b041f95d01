import type { InferenceDelta } from '../loop/inference/driver.ts';
import { isSameResponse, type ResponseName } from './partial-response.ts';

/** A part of the response: its first delta, the texts that `write` has returned, and the texts that came after. */
interface GrowingPart {
  readonly first: InferenceDelta;
  written: string[];
  added: string[];
}

/**
 * Joins the deltas of the response that a model writes, so that a batch has one delta for each part. Neither a delta nor
 * a batch costs more when the response is longer.
 */
export class PartialResponseWriter {
  private name: ResponseName | undefined;
  private parts: GrowingPart[] = [];

  /** Adds a delta. A delta of another response begins a new one. Returns true for the first delta of a response. */
  add(name: ResponseName, delta: InferenceDelta): boolean {
    const isFirst = !isSameResponse(name, this.name);
    if (isFirst) this.begin(name);
    this.partOf(delta).added.push(delta.text);
    return isFirst;
  }

  /** Returns the text since the last call, one delta for each part that has grown. Forgets any response but this one. */
  write(name: ResponseName | undefined): readonly InferenceDelta[] {
    if (!isSameResponse(name, this.name)) this.begin(undefined);
    return this.parts.filter(({ added }) => added.length > 0).map(writePart);
  }

  /** Begins a series: the next `write` returns all text so far. */
  restart(): void {
    for (const part of this.parts) {
      part.added = [...part.written, ...part.added];
      part.written = [];
    }
  }

  clear(): void {
    this.begin(undefined);
  }

  private begin(name: ResponseName | undefined): void {
    this.name = name;
    this.parts = [];
  }

  private partOf(delta: InferenceDelta): GrowingPart {
    const last = this.parts.at(-1);
    if (last !== undefined && isOfPart(last, delta)) return last;
    const known = this.parts.find((part) => isOfPart(part, delta));
    if (known) return known;
    const part = { first: delta, written: [], added: [] };
    this.parts.push(part);
    return part;
  }
}

function isOfPart({ first }: GrowingPart, { type, id }: InferenceDelta): boolean {
  return first.type === type && first.id === id;
}

function writePart(part: GrowingPart): InferenceDelta {
  const text = part.added.join('');
  part.written.push(text);
  part.added = [];
  return { ...part.first, text };
}
