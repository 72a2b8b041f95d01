import type { DocumentReader, Read } from '../../document.ts';
import { readOneOf, readShape, readString, shapeOf } from '../../document.ts';
import { compact, isSameJson } from '../../json.ts';
import type { LlmConfig } from '../llm-config.ts';
import { readLlmConfig } from '../llm-config.ts';

/** Whether the model may, must or must not ask for tools; or which one it must ask for. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly toolName: string };

/** What a model was really called with: after all hooks, and as the driver resolves the name of the model. */
export interface EffectiveRequest {
  /** The model by the id that the driver calls it by; `undefined` when nobody knows. */
  readonly model: string | undefined;
  /** Absent: the driver's own choice. */
  readonly llmConfig: LlmConfig | undefined;
  readonly toolChoice: ToolChoice;
}

/** What a step keeps of its request: what the state does not say. */
export interface StepRequest {
  /** The settings, `{}` for none; absent when they were those of the state. */
  readonly llmConfig?: LlmConfig;
  /** The model, when it is not the one that the settings name. */
  readonly model?: string;
  /** Absent: `auto`. */
  readonly toolChoice?: ToolChoice;
}

/** No settings at all. */
export const NO_SETTINGS: LlmConfig = Object.freeze({});

/** Are these the same settings? None at all is the same as an object without members. */
export function isSameSettings(left: LlmConfig | undefined, right: LlmConfig | undefined): boolean {
  return left === right || isSameJson(left ?? NO_SETTINGS, right ?? NO_SETTINGS);
}

/** Settings that say something; `undefined` for those that do not. */
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

/** Reads what a caller says of a request; `undefined` when that is what the state says. */
export const readGivenRequest: Read<StepRequest | undefined> = requestReader(readToolChoice);

/** Reads the stored request of a step; `undefined` for `{}`. */
export const readStepRequest: Read<StepRequest | undefined> = requestReader(readOtherToolChoice);
