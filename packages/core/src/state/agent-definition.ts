import type { Clock, Instant } from '../clock.ts';
import type { Read } from '../document.ts';
import type { JsonObject } from '../json.ts';
import { checkedCopy, orderedReader, readJsonObject, readString } from '../document.ts';
import { AgentState } from './agent-state.ts';
import type { BudgetLimits } from './execution/budget.ts';
import { readBudgetLimits, toJsonLimits } from './execution/budget.ts';
import { AgentId } from './values/ids.ts';
import type { LlmConfig } from './llm-config.ts';
import { readLlmConfig } from './llm-config.ts';

/**
 * What an agent is, as plain data: it names its tools and capabilities, and whoever builds its loop has the code of
 * those names. Absent, empty and filled can be three things, so each is kept as it is.
 */
export interface AgentDefinition {
  readonly name: string;
  /** Which definition of that name, in any notation; versions have no order. */
  readonly version?: string;
  /** For other agents and for people: what it is good for. */
  readonly description?: string;
  /** What people see instead of the name. */
  readonly label?: string;
  readonly systemPrompt?: string;
  readonly llmConfig?: LlmConfig;
  /** Names of the tools it may use, each once, those of its capabilities too. Absent: all that there are. Empty: none. */
  readonly tools?: readonly string[];
  /** Names of tools it may not use, each once, whatever `tools` says; they need not exist. */
  readonly toolsDeny?: readonly string[];
  /** By name, the options of each capability it has; `{}` for none. */
  readonly capabilities?: Readonly<Record<string, JsonObject>>;
  /**
   * Limits of each execution. Absent: the budget of the builder. Without `maxSteps`: 20 steps. `Infinity` for any number of
   * steps is kept as 9,007,199,254,740,991, since JSON has no infinity.
   */
  readonly budget?: BudgetLimits;
  /** The facts that the metadata of its states begins with. */
  readonly metadata?: JsonObject;
}

/** A checked, frozen copy of a definition. @throws HoldfastError `CONTEXT_INVALID`; `data.path` says where. */
export function agentDefinition(definition: AgentDefinition): AgentDefinition {
  return checkedCopy('agent definition', withJsonLimits(definition), readAgentDefinition);
}

/** The definition with its limits as JSON can hold them. What is wrong stays as it is, for the reader to refuse. */
function withJsonLimits(definition: AgentDefinition): AgentDefinition {
  const budget: BudgetLimits | null | undefined = definition?.budget;
  return budget?.maxSteps === Infinity ? { ...definition, budget: toJsonLimits(budget) } : definition;
}

/** The state that a new agent of a checked definition begins with. */
export function initialState(definition: AgentDefinition, clock: Clock, at: Instant): AgentState {
  const { systemPrompt, llmConfig, metadata = {} } = definition;
  const state = AgentState.empty({ agentId: AgentId.create(clock), at })
    .withSystemPrompt(systemPrompt, at)
    .withLlmConfig(llmConfig, at);
  return Object.entries(metadata).reduce((to, [name, value]) => to.withMetadata(name, value, at), state);
}

const nonEmptyString =
  (expected: string): Read<string> =>
  (reader, value) =>
    typeof value === 'string' && value !== '' ? value : reader.fail(expected, value);
const readName = nonEmptyString('a name');
const readVersion = nonEmptyString('a version as a string');

const readNames: Read<readonly string[]> = (reader, value) => {
  const seen = new Set<string>();
  const readNewName: Read<string> = (reader, item) => {
    const name = readName(reader, item);
    if (seen.has(name)) return reader.fail('each name once', item);
    seen.add(name);
    return name;
  };
  return Object.freeze(reader.list(value, readNewName));
};

const readCapabilities: Read<Readonly<Record<string, JsonObject>>> = (reader, value) => {
  for (const [name] of reader.entries(value, readJsonObject)) {
    if (name === '') reader.fail('capabilities that have a name', value);
  }
  return Object.freeze(value) as Readonly<Record<string, JsonObject>>;
};

/** Reads a definition. */
export const readAgentDefinition: Read<AgentDefinition> = orderedReader({
  name: readName,
  'version?': readVersion,
  'description?': readString,
  'label?': readString,
  'systemPrompt?': readString,
  'llmConfig?': readLlmConfig,
  'tools?': readNames,
  'toolsDeny?': readNames,
  'capabilities?': readCapabilities,
  'budget?': readBudgetLimits,
  'metadata?': readJsonObject,
});
