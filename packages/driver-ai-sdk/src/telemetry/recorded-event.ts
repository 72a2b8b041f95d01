import type { TelemetryEvent } from './integration.ts';

/** The options that decide which content integrations receive. */
export interface RecordingOptions {
  /** False: integrations receive no instructions, messages, tools, arguments or provider options. Default true. */
  readonly recordInputs?: boolean | undefined;
  /** False: integrations receive no texts, reasoning, files, tool calls or results. Default true. */
  readonly recordOutputs?: boolean | undefined;
  /** The name of the agent or function, by which telemetry is grouped. */
  readonly functionId?: string | undefined;
}

const NO_INPUTS: TelemetryEvent = {
  instructions: undefined,
  messages: [],
  promptMessages: [],
  tools: undefined,
  stepTools: undefined,
  providerOptions: {},
};

const NO_OUTPUTS: TelemetryEvent = {
  content: [],
  text: '',
  reasoning: [],
  reasoningText: undefined,
  files: [],
  sources: [],
  toolCalls: [],
  staticToolCalls: [],
  dynamicToolCalls: [],
  toolResults: [],
  staticToolResults: [],
  dynamicToolResults: [],
  responseMessages: [],
};

/** The message that stands for an error whose own message is not recorded. */
export const FAILED = 'AI SDK operation failed';

/** Returns the event with the options of the recording, without the content that they exclude. */
export function recordedEvent(event: TelemetryEvent, recording: RecordingOptions): TelemetryEvent {
  const { recordInputs, recordOutputs, functionId } = recording;
  return { ...withoutContent(event, recording), recordInputs, recordOutputs, functionId };
}

function withoutContent(event: TelemetryEvent, recording: RecordingOptions): TelemetryEvent {
  const hidesInputs = recording.recordInputs === false;
  const hidesOutputs = recording.recordOutputs === false;
  if (!hidesInputs && !hidesOutputs) return event;
  const shown: Record<string, unknown> = { ...event };
  if (hidesInputs) replace(shown, NO_INPUTS);
  if (hidesOutputs) replace(shown, NO_OUTPUTS);
  // The facts of a provider and errors may quote inputs and outputs.
  replace(shown, { providerMetadata: undefined, error: new Error(FAILED) });
  for (const name of ['toolCall', 'toolOutput'])
    if (name in event) shown[name] = withoutValues(event[name], hidesInputs, hidesOutputs);
  for (const name of ['steps', 'finalStep'])
    if (name in event) shown[name] = stepsWithoutContent(event[name], recording);
  return shown;
}

function replace(event: Record<string, unknown>, values: TelemetryEvent): void {
  for (const [name, value] of Object.entries(values)) if (event[name] !== undefined) event[name] = value;
}

function withoutValues(value: unknown, hidesInputs: boolean, hidesOutputs: boolean): unknown {
  if (!isEvent(value)) return value;
  const shown: Record<string, unknown> = { ...value };
  if (hidesInputs) replace(shown, { input: undefined });
  if (hidesOutputs) replace(shown, { output: undefined });
  replace(shown, { providerMetadata: undefined, error: new Error(FAILED) });
  return shown;
}

function stepsWithoutContent(steps: unknown, recording: RecordingOptions): unknown {
  if (Array.isArray(steps)) return steps.map((step) => stepsWithoutContent(step, recording));
  return isEvent(steps) ? withoutContent(steps, recording) : steps;
}

function isEvent(value: unknown): value is TelemetryEvent {
  return typeof value === 'object' && value !== null;
}
