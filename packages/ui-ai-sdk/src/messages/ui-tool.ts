import type { Tool } from '@holdfast/core';

/**
 * The input and the output of a tool, for the type of the messages of `useChat`.
 *
 * @example
 * type ClerkMessage = UIMessage<ExecutionMetadata, UIDataTypes, { pay: UIToolOf<typeof pay> }>;
 */
export type UIToolOf<AnyTool> =
  // oxlint-disable-next-line typescript/no-explicit-any -- the context of a tool stands on both sides of a function
  AnyTool extends Tool<infer Input, infer Output, any> ? { input: Input; output: Output } : never;
