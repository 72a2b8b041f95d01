import type { UIMessage } from 'ai';

/** A part of a UI message. */
export type UIPart = UIMessage['parts'][number];

/** A part that shows a tool call. */
export type ToolPart = Extract<UIPart, { readonly toolCallId: string }>;

/** True for a part that shows a tool call, of a typed or of a dynamic tool. */
export function isToolPart(part: UIPart): part is ToolPart {
  return 'toolCallId' in part;
}

/** How parts are shown. */
export interface PartOptions {
  /** True for a tool whose calls are `dynamic-tool` parts. */
  readonly isDynamicTool: (toolName: string) => boolean;
  /** True when parts have the data that providers attached to them. */
  readonly hasProviderMetadata: boolean;
}
