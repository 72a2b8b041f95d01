import type { JsonObject, Read } from '../json.ts';
import { checked, compact, readJsonObject, readString } from '../json.ts';
import { ExecutionBudget } from './budget.ts';
import type { LlmConfig } from './inference.ts';
import { readLlmConfig } from './inference.ts';

/** What an agent is, as plain data: everything but the code of its tools. */
export interface AgentDefinition {
  readonly name: string;
  /** For other agents and for people: what it is good for. */
  readonly description?: string;
  /** What people see instead of the name. */
  readonly label?: string;
  readonly systemPrompt?: string;
  readonly llmConfig?: LlmConfig;
  /** Names of the tools it has. Absent: all there are; empty: none. */
  readonly tools?: readonly string[];
  /** Names of tools it does not have, whatever `tools` says. */
  readonly toolsDeny?: readonly string[];
  readonly capabilities?: readonly string[];
  readonly budget?: ExecutionBudget;
  readonly metadata?: JsonObject;
}

/** A checked, frozen definition. @throws HoldfastError `CONTEXT_INVALID` naming what does not fit. */
export function agentDefinition(definition: AgentDefinition): AgentDefinition {
  return checked('agent definition', definition, readAgentDefinition);
}

const NAMES = new Set([
  'name',
  'description',
  'label',
  'systemPrompt',
  'llmConfig',
  'tools',
  'toolsDeny',
  'capabilities',
  'budget',
  'metadata',
]);

const readName: Read<string> = (reader, value) =>
  typeof value === 'string' && value.length > 0 ? value : reader.fail('a name', value);
const readNames: Read<readonly string[]> = (reader, value) => Object.freeze(reader.list(value, readName));

/** Reads a definition. @internal */
export const readAgentDefinition: Read<AgentDefinition> = (reader, value) => {
  const members = reader.members(value, NAMES);
  return compact({
    name: reader.required(members, 'name', readName),
    description: reader.optional(members, 'description', readString),
    label: reader.optional(members, 'label', readString),
    systemPrompt: reader.optional(members, 'systemPrompt', readString),
    llmConfig: reader.optional(members, 'llmConfig', readLlmConfig),
    tools: reader.optional(members, 'tools', readNames),
    toolsDeny: reader.optional(members, 'toolsDeny', readNames),
    capabilities: reader.optional(members, 'capabilities', readNames),
    budget: reader.optional(members, 'budget', ExecutionBudget.read),
    metadata: reader.optional(members, 'metadata', readJsonObject),
  }) as AgentDefinition;
};
