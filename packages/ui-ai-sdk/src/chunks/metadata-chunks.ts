import type { UIMessageChunk } from 'ai';
import { isObject, isSameValue } from './is-same-value.ts';

/**
 * Returns the chunks that change the metadata of a message; `undefined` when none can. A page merges new metadata into
 * the metadata that it has, so members can change and be added, and cannot be removed.
 */
export function metadataChunks(shown: unknown, wanted: unknown): readonly UIMessageChunk[] | undefined {
  if (isSameValue(shown, wanted)) return [];
  return canBecome(shown, wanted) ? [{ type: 'message-metadata', messageMetadata: wanted }] : undefined;
}

/** True when merging `wanted` into `shown` gives `wanted`. */
function canBecome(shown: unknown, wanted: unknown): boolean {
  if (wanted === undefined || wanted === null) return false;
  if (!isPlain(shown) || !isPlain(wanted)) return shown === undefined || shown === null;
  return Object.entries(shown).every(([name, value]) => canMemberBecome(value, wanted[name]));
}

function canMemberBecome(shown: unknown, wanted: unknown): boolean {
  if (shown === undefined) return true;
  if (wanted === undefined) return false;
  if (!isPlain(shown) || !isPlain(wanted)) return true;
  return Object.entries(shown).every(([name, value]) => canMemberBecome(value, wanted[name]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value);
}
