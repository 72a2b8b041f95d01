import { createHash, randomUUID } from 'node:crypto';
import { textOf, type Part, type Turn, type View } from './view.ts';

/** The content of a signature: the endpoint that gave it, the prefix, the text, and the answer. */
interface Seal {
  readonly endpoint: string;
  readonly prefix: string;
  readonly text: string;
  readonly answer: string;
  readonly size: number;
}

/** The answer to which a signature belongs, and how many pieces of reasoning it has. */
export interface SealedAnswer {
  readonly id: string;
  readonly size: number;
}

/** An item that a server made. `reasoning`: the reasoning item directly before it. `following`: the item directly after reasoning. */
interface Item {
  readonly type: string;
  readonly reasoning: string | undefined;
  readonly following: string | undefined;
}

/** The memory of a server: signatures that it can tell from others, and the items that it made. */
export class Issuer {
  private readonly items = new Map<string, Item>();
  private readonly endpoint = randomUUID();
  private count = 0;

  /** An id that no other answer of any server has. */
  nextId(): string {
    this.count += 1;
    return `${this.endpoint.slice(0, 8)}${this.count}`;
  }

  /** A signature of a text that stands after this prefix. It is base64. */
  sign(prefix: string, text: string, { id, size }: SealedAnswer = { id: '', size: 0 }): string {
    const seal: Seal = { endpoint: this.endpoint, prefix, text: digest(text), answer: id, size };
    return Buffer.from(JSON.stringify(seal)).toString('base64');
  }

  /** The content of a signature of this server; `undefined` for any other text. */
  read(signature: unknown): Seal | undefined {
    try {
      const seal = JSON.parse(Buffer.from(textOf(signature), 'base64').toString()) as Seal;
      return seal.endpoint === this.endpoint ? seal : undefined;
    } catch {
      return undefined;
    }
  }

  /** Remembers the items of an answer. */
  remember(items: readonly { readonly id: string; readonly type: string }[]): void {
    for (const [index, { id, type }] of items.entries()) {
      const before = items[index - 1];
      const after = items[index + 1];
      this.items.set(id, {
        type,
        reasoning: before?.type === 'reasoning' ? before.id : undefined,
        following: type === 'reasoning' ? after?.id : undefined,
      });
    }
  }

  itemOf(id: unknown): Item | undefined {
    return this.items.get(textOf(id));
  }
}

/**
 * The digest of all that stands before a part: the system prompt, the tools and the messages. Messages of one role in a
 * row count as one, as the packages join them.
 */
export function prefixOf({ system, tools, turns }: View, turn: number, part: number): string {
  const before = turns.slice(0, turn).flatMap(contentOf);
  const { role = '', parts = [] } = turns[turn] ?? {};
  const inside = contentOf({ role, parts: parts.slice(0, part) });
  return digest([system.map(valuesOf), tools.map(valuesOf), [...before, ...inside]]);
}

function contentOf({ role, parts }: Pick<Turn, 'role' | 'parts'>): readonly unknown[] {
  return parts.filter(({ type }) => type !== 'mark').map((part) => [role, valuesOf(part)]);
}

/** The values of a part. Marks of the cache do not count. */
function valuesOf({ type, at }: Part): unknown {
  const names = Object.keys(at).filter((name) => name !== 'mark' && name !== 'part');
  return [type, ...names.toSorted().map((name) => [name, at[name]?.value])];
}

/** The digest of a value, whichever order its members have. */
export function digest(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
