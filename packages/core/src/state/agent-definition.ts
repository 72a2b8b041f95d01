import type { JsonObject, Read } from '../json.ts';
import { checked, compact, readJsonObject, readString } from '../json.ts';
import type { LlmConfig } from './llm-config.ts';
import { readLlmConfig } from './llm-config.ts';

/** What an agent is, as plain data. Its code (tools, hooks, limits) is in the loop that the catalog has for its name. */
export interface AgentDefinition {
  readonly name: string;
  /** For other agents and for people: what it is good for. */
  readonly description?: string;
  /** What people see instead of the name. */
  readonly label?: string;
  readonly systemPrompt?: string;
  readonly llmConfig?: LlmConfig;
  readonly metadata?: JsonObject;
}

/** A checked, frozen definition. @throws HoldfastError `CONTEXT_INVALID` naming what does not fit. */
export function agentDefinition(definition: AgentDefinition): AgentDefinition {
  return checked('agent definition', definition, readAgentDefinition);
}

const NAMES = new Set(['name', 'description', 'label', 'systemPrompt', 'llmConfig', 'metadata']);

const readName: Read<string> = (reader, value) =>
  typeof value === 'string' && value.length > 0 ? value : reader.fail('a name', value);

/** Reads a definition. @internal */
export const readAgentDefinition: Read<AgentDefinition> = (reader, value) => {
  const members = reader.members(value, NAMES);
  return compact({
    name: reader.required(members, 'name', readName),
    description: reader.optional(members, 'description', readString),
    label: reader.optional(members, 'label', readString),
    systemPrompt: reader.optional(members, 'systemPrompt', readString),
    llmConfig: reader.optional(members, 'llmConfig', readLlmConfig),
    metadata: reader.optional(members, 'metadata', readJsonObject),
  }) as AgentDefinition;
};
