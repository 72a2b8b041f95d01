import type { AgentState, Message, UserPart } from '@holdfast/core';
import type { InboxItem } from '@holdfast/core/store';
import type { UIMessage } from 'ai';
import { isObject, isSameValue } from '../json/is-same-value.ts';
import { userParts } from '../messages/content-parts.ts';
import { DATA_PARTS, withDataParts } from '../messages/data-parts.ts';

/** Returns the user messages that wait in the inbox, which the state does not have. */
export function queuedMessages(items: readonly InboxItem[], state: AgentState): readonly UIMessage[] {
  const known = new Set<string>(items.length > 0 ? state.messages.map(({ id }) => id) : []);
  return items.flatMap(({ id, content }) => {
    if (known.has(id) || !isObject(content) || content['type'] !== 'message') return [];
    const { [DATA_PARTS]: _, ...own } = isObject(content['metadata']) ? content['metadata'] : {};
    const parts = shownUserParts(content['content'], content['metadata']);
    const metadata = Object.keys(own).length > 0 ? { metadata: own } : {};
    return [{ id, role: 'user' as const, ...metadata, parts }];
  });
}

/** Returns the parts of a message of the user as a page shows them. */
function shownUserParts(content: unknown, metadata: unknown): UIMessage['parts'] {
  const parts =
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content as UserPart[]);
  const shown = userParts(parts, { isDynamicTool: () => false, hasProviderMetadata: false });
  return withDataParts(shown, isObject(metadata) ? metadata[DATA_PARTS] : undefined);
}

/** True when a page that shows these parts shows the message as it is. */
export function isShownWith({ content, metadata }: Message, parts: readonly unknown[]): boolean {
  const known = shownUserParts(content, metadata);
  return known.length === parts.length && known.every((part, index) => hasMembers(parts[index], part));
}

/** True for an object with all members of another one. */
function hasMembers(value: unknown, members: object): boolean {
  return (
    isObject(value) && Object.entries(members).every(([name, member]) => isSameValue(value[name], member))
  );
}
