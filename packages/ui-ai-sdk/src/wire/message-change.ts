import type { UIMessage } from 'ai';
import { isSameValue } from '../json/is-same-value.ts';
import type { UIPart } from '../messages/ui-part.ts';

/** The changed members of a part. */
interface PartChange {
  readonly index: number;
  /** Text to append to a member that is text. */
  readonly grown?: Readonly<Record<string, string>>;
  /** The members with another value. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** The names of the members that the part no longer has. */
  readonly removed?: readonly string[];
}

/** The change from one version of a UI message to a later one. It is JSON. */
export interface MessageChange {
  /** The number of parts that stay. The parts behind them are gone. */
  readonly keep: number;
  /** The changes of parts that stay. */
  readonly changed?: readonly PartChange[];
  /** The parts behind those that stay. */
  readonly added?: readonly UIPart[];
  /** The metadata, if it changed; `null` for none. */
  readonly metadata?: unknown;
}

/**
 * Returns the change from one version of a message to another, at the cost of the parts that differ; `undefined` when both
 * are equal.
 */
export function messageChange(before: UIMessage, after: UIMessage): MessageChange | undefined {
  const changed: PartChange[] = [];
  const shared = Math.min(before.parts.length, after.parts.length);
  let keep = 0;
  for (; keep < shared; keep++) {
    const change = partChange(before.parts[keep], after.parts[keep], keep);
    if (change === 'other') break;
    if (change) changed.push(change);
  }
  const added = after.parts.slice(keep);
  const isSameMetadata = isSameValue(before.metadata, after.metadata);
  const isEqual = keep === before.parts.length && changed.length + added.length === 0 && isSameMetadata;
  if (isEqual) return undefined;
  return {
    keep,
    ...(changed.length > 0 && { changed }),
    ...(added.length > 0 && { added }),
    ...(!isSameMetadata && { metadata: after.metadata ?? null }),
  };
}

/** Returns a message after a change. @throws TypeError for a change of another message. */
export function withMessageChange(
  message: UIMessage,
  { keep, changed = [], added = [], metadata = message.metadata ?? null }: MessageChange,
): UIMessage {
  const parts = message.parts.slice(0, keep);
  if (parts.length < keep) throw new TypeError('The change is for a message with more parts.');
  for (const change of changed) parts[change.index] = withPartChange(parts[change.index], change);
  const { id, role } = message;
  return { id, role, ...(metadata !== null && { metadata }), parts: [...parts, ...added] };
}

type Members = Readonly<Record<string, unknown>>;

/** Returns the change of a part; `undefined` for an equal part, `other` for another part. */
function partChange(
  before: UIPart | undefined,
  after: UIPart | undefined,
  index: number,
): PartChange | 'other' | undefined {
  if (before === after) return undefined;
  if (before === undefined || after === undefined) return 'other';
  return membersChange(before, after, index);
}

function membersChange(before: Members, after: Members, index: number): PartChange | 'other' | undefined {
  const isSamePart = before['type'] === after['type'] && before['toolCallId'] === after['toolCallId'];
  if (!isSamePart) return 'other';
  const [grown, set]: [Record<string, string>, Record<string, unknown>] = [{}, {}];
  for (const [name, value] of Object.entries(after)) {
    const growth = growthOf(before[name], value);
    if (growth !== undefined) grown[name] = growth;
    else if (value !== undefined && !isSameValue(before[name], value)) set[name] = value;
  }
  const removed = Object.keys(before).filter(
    (name) => before[name] !== undefined && after[name] === undefined,
  );
  const [hasGrown, hasSet] = [Object.keys(grown).length > 0, Object.keys(set).length > 0];
  if (!hasGrown && !hasSet && removed.length === 0) return undefined;
  return {
    index,
    ...(hasGrown && { grown }),
    ...(hasSet && { set }),
    ...(removed.length > 0 && { removed }),
  };
}

function growthOf(before: unknown, after: unknown): string | undefined {
  const hasGrown =
    typeof before === 'string' &&
    typeof after === 'string' &&
    after.length > before.length &&
    after.startsWith(before);
  return hasGrown ? after.slice(before.length) : undefined;
}

function withPartChange(
  part: UIPart | undefined,
  { grown = {}, set = {}, removed = [] }: PartChange,
): UIPart {
  if (part === undefined) throw new TypeError('The change is for a part that the message does not have.');
  const changed: Record<string, unknown> = { ...part, ...set };
  for (const [name, text] of Object.entries(grown)) changed[name] = `${String(changed[name])}${text}`;
  for (const name of removed) delete changed[name];
  return changed as unknown as UIPart;
}
