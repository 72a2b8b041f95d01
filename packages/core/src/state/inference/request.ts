import {
  orderedReader,
  readCount,
  readOneOf,
  readShape,
  readString,
  shapeOf,
  type Read,
} from '../../document.ts';
import { isSameJson } from '../../json.ts';
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
  /**
   * The form of the request, when it was not the form of the driver: the strictest one, after the provider refused the
   * other.
   */
  readonly form?: 'strictest' | undefined;
  /**
   * The number of tokens to which the oldest results of the messages were shortened, after the provider refused them as too
   * long.
   */
  readonly shortenedTo?: number | undefined;
}

/** The stored part of a step's request: only what differs from the state. */
export interface StepRequest {
  /** The model settings, `{}` for none. Absent: the settings of the state. */
  readonly llmConfig?: LlmConfig;
  /** The model, when it differs from the model in the settings. */
  readonly model?: string;
  /** Absent: `auto`. */
  readonly toolChoice?: ToolChoice;
  /** Absent: the form of the driver. */
  readonly form?: 'strictest';
  /** Absent: the results are not shortened. */
  readonly shortenedTo?: number;
}

/** True when a request with this tool choice allows a call. A model may ignore the choice, and its call then does not run. */
export function isAllowed(
  { toolName }: { readonly toolName: string },
  choice: ToolChoice | undefined,
): boolean {
  return typeof choice === 'object' ? choice.toolName === toolName : choice !== 'none';
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

export const readToolChoice: Read<ToolChoice> = toolChoiceReader(readWord);
const readOtherToolChoice = toolChoiceReader(readWordThatSaysSomething);

function requestReader(readChoice: Read<ToolChoice>): Read<StepRequest | undefined> {
  const readRequest = orderedReader({
    'llmConfig?': readLlmConfig,
    'model?': readString,
    'toolChoice?': readChoice,
    'form?': readOneOf(['strictest']),
    'shortenedTo?': readCount,
  });
  return (reader, value) => {
    const { toolChoice, ...settings } = readRequest(reader, value);
    const request =
      toolChoice === undefined || toolChoice === 'auto' ? settings : { ...settings, toolChoice };
    for (const _ in request) return Object.freeze(request);
    return undefined;
  };
}

/** Reads the request that a caller passes; `undefined` when it is empty. */
export const readGivenRequest: Read<StepRequest | undefined> = requestReader(readToolChoice);

/** Reads the stored request of a step; `undefined` for `{}`. */
export const readStepRequest: Read<StepRequest | undefined> = requestReader(readOtherToolChoice);
