import type { Messages } from '../../state/messages/messages.ts';
import type { ToolDescription } from '../inference/driver.ts';
import type { LegalNames } from './legal-names.ts';
import { isCall } from './needs-of-calls.ts';

/** Returns the tools with a declaration for each tool that only the calls of the messages name. `names`: those of the provider. */
export function withCalledTools(
  tools: readonly ToolDescription[],
  messages: Messages,
  names: LegalNames,
): readonly ToolDescription[] {
  const known = new Set(tools.map(({ name }) => name));
  const called = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== 'assistant') continue;
    for (const part of content) if (isCall(part)) called.add(names.of(part.toolName.toWellFormed()));
  }
  const missing = [...called].filter((name) => !known.has(name));
  return missing.length === 0 ? tools : declared(tools, missing);
}

const lists = new WeakMap<readonly ToolDescription[], Map<string, readonly ToolDescription[]>>();

/** The lists by their names: the same names give the same list object, by which drivers cache converted tools. */
function declared(tools: readonly ToolDescription[], missing: readonly string[]): readonly ToolDescription[] {
  const known = lists.get(tools) ?? new Map<string, readonly ToolDescription[]>();
  lists.set(tools, known);
  const key = missing.join(' ');
  const list = known.get(key) ?? Object.freeze([...tools, ...missing.map(unavailable)]);
  known.set(key, list);
  return list;
}

function unavailable(name: string): ToolDescription {
  const inputSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) });
  return Object.freeze({ name, description: 'This tool is not available.', inputSchema });
}
