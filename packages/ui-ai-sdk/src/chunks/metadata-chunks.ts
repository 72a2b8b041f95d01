import type { UIMessageChunk } from 'ai';
import { isObject, isSameValue } from '../json/is-same-value.ts';

/** Names of members that a page does not merge. */
const UNMERGED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/**
 * Returns the chunks that change the metadata of a message; `undefined` when none can. A page merges new metadata into
 * the metadata that it has, so members can change and be added, and cannot be removed.
 */
export function metadataChunks(shown: unknown, wanted: unknown): readonly UIMessageChunk[] | undefined {
  if (isSameValue(shown, wanted)) return [];
  return canBecome(shown, wanted) ? [{ type: 'message-metadata', messageMetadata: wanted }] : undefined;
}

/** True when merging metadata into other metadata gives it. */
function canBecome(shown: unknown, wanted: unknown): boolean {
  if (wanted === undefined || wanted === null) return false;
  if (shown === undefined || shown === null) return true;
  return isPlain(shown) && isPlain(wanted) && haveMembersMerged(shown, wanted);
}

type Members = Readonly<Record<string, unknown>>;

function haveMembersMerged(shown: Members, wanted: Members): boolean {
  return [...new Set([...Object.keys(shown), ...Object.keys(wanted)])].every((name) => {
    const [before, after] = [shown[name], wanted[name]];
    if (UNMERGED.includes(name)) return isSameValue(before, after);
    if (before !== undefined && after === undefined) return false;
    return !isPlain(before) || !isPlain(after) || haveMembersMerged(before, after);
  });
}

function isPlain(value: unknown): value is Members {
  return isObject(value) && !Array.isArray(value);
}
