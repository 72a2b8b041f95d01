export { toUIMessages } from './messages/to-ui-messages.ts';
export type { ToUIMessagesOptions } from './messages/to-ui-messages.ts';
export type { ExecutionMetadata } from './messages/execution-metadata.ts';
export type { UIToolOf } from './messages/ui-tool.ts';
export { waitsForOthers } from './messages/decidable.ts';
export { withoutSteered } from './messages/without-steered.ts';
export { chunksBetween } from './chunks/chunks-between.ts';
export type { ChunksBetweenOptions, MessageDifference } from './chunks/message-difference.ts';
