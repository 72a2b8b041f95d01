/** An event of a run, with the members that the AI SDK gives the event of the same name. */
export type TelemetryEvent = Readonly<Record<string, unknown>>;

/** The work that an integration runs inside its own context. */
export interface TracedWork<T> {
  readonly callId: string;
  /** Does the work. Further calls return the same promise. */
  readonly execute: () => PromiseLike<T>;
}

/**
 * A telemetry integration of the AI SDK, such as `new OpenTelemetry()` of `@ai-sdk/otel`. The type `Telemetry` of the
 * package `ai` fits it, and says which members each event has.
 */
export interface TelemetryIntegration {
  onStart?(event: never): unknown;
  onStepStart?(event: never): unknown;
  onLanguageModelCallStart?(event: never): unknown;
  onLanguageModelCallEnd?(event: never): unknown;
  onToolExecutionStart?(event: never): unknown;
  onToolExecutionEnd?(event: never): unknown;
  onStepEnd?(event: never): unknown;
  /** The former name of `onStepEnd`. An integration with both receives the event twice. */
  onStepFinish?(event: never): unknown;
  onStepError?(event: never): unknown;
  onEnd?(event: never): unknown;
  onAbort?(event: never): unknown;
  onError?(event: never): unknown;
  executeLanguageModelCall?<T>(work: TracedWork<T>): PromiseLike<T>;
  executeTool?<T>(work: TracedWork<T> & { readonly toolCallId: string }): PromiseLike<T>;
}

/** The names of the events. */
export type TelemetryEventName = Exclude<
  keyof TelemetryIntegration,
  'executeLanguageModelCall' | 'executeTool' | 'onStepFinish'
>;

/** Returns the integrations that `registerTelemetry` of the AI SDK has registered. */
export function registeredIntegrations(): readonly TelemetryIntegration[] {
  const registered: unknown = Reflect.get(globalThis, 'AI_SDK_TELEMETRY_INTEGRATIONS');
  return Array.isArray(registered) ? registered.filter(isIntegration) : [];
}

/** True for an object, which may have the methods of an integration. */
export function isIntegration(value: unknown): value is TelemetryIntegration {
  return typeof value === 'object' && value !== null;
}
