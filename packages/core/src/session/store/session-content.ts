import { describeValue, StateFormatError } from '../../errors.ts';

/** A session as a store keeps it, in parts that change at their own pace. Every text is JSON. */
export interface SessionContent {
  /** What changes with every save: version, status, the step in progress, how long the lists are. */
  readonly head: string;
  /** What seldom changes, by name: the definition, the system prompt, metadata, settings. */
  readonly values: ReadonlyMap<string, string>;
  /** What grows at its end, by name: the messages of each section, the finished steps. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** The names of the parts that a head goes with. */
export interface ContentParts {
  readonly values: readonly string[];
  /** Each with its length. */
  readonly lists: readonly (readonly [name: string, length: number])[];
}

/** How one list changes. */
export interface ListChange {
  readonly name: string;
  /** How many elements stay, from the start. */
  readonly keep: number;
  /** What follows on them. With none of either the list is gone. */
  readonly append: readonly string[];
}

/** What a save has to write, and nothing else. A store does all of it at once, or none. */
export interface SavePlan {
  /** Nothing is known of what the store has: all of the session is replaced. */
  readonly isWhole: boolean;
  readonly head: string;
  /** Values that are new or other than they were; `undefined` for one that is gone. */
  readonly values: ReadonlyMap<string, string | undefined>;
  /** Lists that are new or other than they were. */
  readonly lists: readonly ListChange[];
}

/** A text that is another one for a plan that writes something else. Not a defence: it finds mistakes. */
export function fingerprint({ head, values, lists }: SavePlan): string {
  let [high, low] = [0, 0];
  const add = (text: string): void => {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 0x85ebca6b);
      low = Math.imul(low + unit, 0xc2b2ae35) ^ (low >>> 13);
    }
    high ^= text.length;
  };
  add(head);
  for (const [name, text] of values) [name, text ?? ''].forEach(add);
  for (const { name, keep, append } of lists) [name, String(keep), ...append].forEach(add);
  return (high >>> 0).toString(36) + (low >>> 0).toString(36);
}

/** What is kept after a plan was carried out. For stores that keep whole sessions, or plans one after the other. */
export function applySavePlan(content: SessionContent | undefined, plan: SavePlan): SessionContent {
  const base = plan.isWhole ? undefined : content;
  const values = new Map(base?.values);
  for (const [name, text] of plan.values) {
    if (text === undefined) values.delete(name);
    else values.set(name, text);
  }
  const lists = new Map(base?.lists);
  for (const { name, keep, append } of plan.lists) {
    const before = lists.get(name) ?? [];
    if (keep > before.length) throw unreadablePart(`the list "${name}"`, `${keep} elements`, before.length);
    if (keep + append.length === 0) lists.delete(name);
    else lists.set(name, [...before.slice(0, keep), ...append]);
  }
  return { head: plan.head, values, lists };
}

/** A part that is not as it should be. */
export function unreadablePart(
  what: string,
  expected: string,
  found: unknown,
  cause?: unknown,
): StateFormatError {
  return new StateFormatError(what, expected, describeValue(found), { cause });
}
