/** Returns the id of the execution whose UI message has this id, with or without a number. */
export function executionIdIn(messageId: string): string {
  const [executionId = messageId] = messageId.split(':', 1);
  return executionId;
}
