import type { ToolExecution } from '@holdfast/core';

/**
 * The id of the pending approval request of a call. A call in doubt requests approval again after each crash, so a
 * decision of a page that shows an earlier request has another id.
 */
export function approvalIdOf({ id, approval }: ToolExecution): string {
  return approval === undefined ? id : `${id}@${approval.requestedAt}`;
}
