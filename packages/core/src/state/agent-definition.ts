import { checkedCopy } from '../arguments.ts';
import type { Clock, Instant } from '../clock.ts';
import { orderedReader, readJsonObject, readString, type Read } from '../document.ts';
import type { JsonObject } from '../json.ts';
import { AgentState } from './agent-state.ts';
import { readBudgetLimits, toJsonLimits, type BudgetLimits } from './execution/budget.ts';
import { AgentId } from './values/ids.ts';
import { readLlmConfig, type LlmConfig } from './inference/llm-config.ts';

/**
 * A description of an agent as plain data: it names tools and capabilities, and the builder of the loop has their code.
 * An absent member and an empty one can differ in meaning, so both are stored as they are.
 */
export interface AgentDefinition {
  readonly name: string;
  /** Distinguishes definitions of one name, in any notation. Versions have no order. */
  readonly version?: string;
  /** The purpose of the agent, for people and other agents. */
  readonly description?: string;
  /** The name that people see instead of `name`. */
  readonly label?: string;
  readonly systemPrompt?: string;
  readonly llmConfig?: LlmConfig;
  /**
   * The names of the tools that the agent may use, each once, tools of its capabilities included. Absent: all known
   * tools. Empty: no tools.
   */
  readonly tools?: readonly string[];
  /**
   * The names of tools that the agent may not use, each once, even when `tools` lists them. The tools need not exist.
   */
  readonly toolsDeny?: readonly string[];
  /** The options of each capability, by its name; `{}` for a capability without options. */
  readonly capabilities?: Readonly<Record<string, JsonObject>>;
  /**
   * The limits of each execution. Absent: the budget of the builder. Without `maxSteps`: 20 steps. `Infinity` steps are
   * stored as 9,007,199,254,740,991, because JSON has no infinity.
   */
  readonly budget?: BudgetLimits;
  /** The initial metadata of the agent's states. */
  readonly metadata?: JsonObject;
}

/**
 * Returns a checked, frozen copy of a definition.
 * @throws HoldfastError `CONTEXT_INVALID`; `data.path` locates the invalid value.
 */
export function agentDefinition(definition: AgentDefinition): AgentDefinition {
  return checkedCopy('agent definition', withJsonLimits(definition), readAgentDefinition);
}

/** Returns the definition with limits that JSON can hold. The reader refuses invalid limits later. */
function withJsonLimits(definition: AgentDefinition): AgentDefinition {
  const budget: BudgetLimits | null | undefined = definition?.budget;
  return budget?.maxSteps === Infinity ? { ...definition, budget: toJsonLimits(budget) } : definition;
}

/** Returns the first state of a new agent with a checked definition. */
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
