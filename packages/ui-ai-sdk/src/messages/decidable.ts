import type { UIMessage } from 'ai';
import { isObject } from '../json/is-same-value.ts';
import { isToolPart, type ToolPart, type UIPart } from './ui-part.ts';

/** The mark of a call on which the user of the page may not decide. */
const FOR_OTHERS = Object.freeze({ mayDecide: false });

type WaitingPart = Extract<ToolPart, { readonly state: 'approval-requested' }>;

/**
 * True for a call that waits for the decision of another person. Show no buttons for it, and
 * `part.approval.requestReason`, which says why.
 */
export function waitsForOthers(part: UIPart): boolean {
  const descriptor = isWaiting(part) ? part.approval.descriptor : undefined;
  return isObject(descriptor) && descriptor['mayDecide'] === false;
}

/** The marked messages, by the ids of the marked approvals: all readers with the same rights share them. */
const known = new WeakMap<UIMessage, Map<string, UIMessage>>();

/** Returns a message in which the named approvals are for another person. */
export function withoutDecision(
  message: UIMessage,
  approvalIds: ReadonlySet<string>,
  requestReason: string,
): UIMessage {
  const key = JSON.stringify([requestReason, ...approvalIds]);
  const marked = known.get(message) ?? new Map<string, UIMessage>();
  known.set(message, marked);
  const found = marked.get(key) ?? markedMessage(message, approvalIds, requestReason);
  marked.set(key, found);
  return found;
}

function markedMessage(
  message: UIMessage,
  approvalIds: ReadonlySet<string>,
  requestReason: string,
): UIMessage {
  const parts = message.parts.map((part) => {
    if (!isWaiting(part) || !approvalIds.has(part.approval.id)) return part;
    return Object.freeze({ ...part, approval: { ...part.approval, descriptor: FOR_OTHERS, requestReason } });
  });
  return Object.freeze({ ...message, parts });
}

function isWaiting(part: UIPart): part is WaitingPart {
  return isToolPart(part) && part.state === 'approval-requested';
}
