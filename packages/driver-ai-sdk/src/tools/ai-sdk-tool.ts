/**
 * A tool of the AI SDK, with the members that are used here: of `tool()`, of `dynamicTool()`, of an MCP client, or of a
 * provider, such as `openai.tools.webSearch()`.
 */
export interface AiSdkTool {
  readonly type?: 'function' | 'dynamic' | 'provider' | undefined;
  readonly description?: string | ((options: never) => string) | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly contextSchema?: unknown;
  readonly strict?: boolean | undefined;
  readonly providerOptions?: object | undefined;
  readonly inputExamples?: readonly object[] | undefined;
  readonly metadata?: object | undefined;
  readonly needsApproval?: boolean | ((input: never, options: never) => unknown) | undefined;
  execute?(input: never, options: never): unknown;
  toModelOutput?(result: never): unknown;
  readonly id?: string | undefined;
  readonly args?: object | undefined;
  readonly isProviderExecuted?: boolean | undefined;
  readonly supportsDeferredResults?: boolean | undefined;
}

/** A tool set of the AI SDK: tools by name. */
export type AiSdkToolSet = Readonly<Record<string, AiSdkTool>>;
