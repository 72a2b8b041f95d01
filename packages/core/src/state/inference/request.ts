import { readOneOf, readShape, readString, shapeOf, type DocumentReader, type Read } from '../../document.ts';
import { compact, isSameJson } from '../../json.ts';
import { readLlmConfig, type LlmConfig } from './llm-config.ts';

/** Whether the model may, must or must not call tools, or the one tool that it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly toolName: string };

/** The request that a step really used: after all hooks, and with the model name as the driver resolved it. */
export interface EffectiveRequest {
  /** The id by which the driver calls the model; `undefined` when it is unknown. */
  readonly model: string | undefined;
  /** The model settings. Absent: the driver's defaults. */
  readonly llmConfig: LlmConfig | undefined;
  readonly toolChoice: ToolChoice;
}

/** The stored part of a step's request: only what differs from the state. */
export interface StepRequest {
  /** The model settings, `{}` for none. Absent: the settings of the state. */
  readonly llmConfig?: LlmConfig;
  /** The model, when it differs from the model in the settings. */
  readonly model?: string;
  /** Absent: `auto`. */
  readonly toolChoice?: ToolChoice;
}

/** Empty model settings. */
export const NO_SETTINGS: LlmConfig = Object.freeze({});

/** True for equal settings. Absent settings equal `{}`. */
export function isSameSettings(left: LlmConfig | undefined, right: LlmConfig | undefined): boolean {
  return left === right || isSameJson(left ?? NO_SETTINGS, right ?? NO_SETTINGS);
}

/** Returns the settings, or `undefined` when they are empty. */
export function filledSettings(llmConfig: LlmConfig | undefined): LlmConfig | undefined {
  for (const _ in llmConfig) return llmConfig;
  return undefined;
}

const TOOL = shapeOf({ toolName: readString });
const readWord = readOneOf(['auto', 'none', 'required']);
const readWordThatSaysSomething = readOneOf(['none', 'required']);

function toolChoiceReader(read: Read<ToolChoice & string>): Read<ToolChoice> {
  return (reader, value) =>
    typeof value === 'object' && value !== null ? readShape(reader, value, TOOL) : read(reader, value);
}

/** Reads a tool choice. */
export const readToolChoice: Read<ToolChoice> = toolChoiceReader(readWord);
const readOtherToolChoice = toolChoiceReader(readWordThatSaysSomething);

const NAMES = new Set(['llmConfig', 'model', 'toolChoice']);

function requestReader(readChoice: Read<ToolChoice>): Read<StepRequest | undefined> {
  return (reader: DocumentReader, value: unknown): StepRequest | undefined => {
    const members = reader.members(value, NAMES);
    const toolChoice = reader.optional(members, 'toolChoice', readChoice);
    const request = compact({
      llmConfig: reader.optional(members, 'llmConfig', readLlmConfig),
      model: reader.optional(members, 'model', readString),
      toolChoice: toolChoice === 'auto' ? undefined : toolChoice,
    }) as StepRequest;
    for (const _ in request) return request;
    return undefined;
  };
}

/** Reads the request that a caller passes; `undefined` when it is empty. */
export const readGivenRequest: Read<StepRequest | undefined> = requestReader(readToolChoice);

/** Reads the stored request of a step; `undefined` for `{}`. */
export const readStepRequest: Read<StepRequest | undefined> = requestReader(readOtherToolChoice);
