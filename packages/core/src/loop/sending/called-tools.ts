import type { Messages } from '../../state/messages/messages.ts';
import { LineageCache } from '../../state/values/list.ts';
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
  const called = new Set([...calledIn(messages)].map((name) => names.of(name.toWellFormed())));
  const missing = [...called].filter((name) => !known.has(name));
  return missing.length === 0 ? tools : declared(tools, missing);
}

/** The names of the tools that some messages call, in the order of their first calls. */
interface CalledNames {
  readonly messages: Messages;
  readonly names: ReadonlySet<string>;
}

const calledNames = new LineageCache<CalledNames>();

/** Returns the names that the messages call. For a list that has grown, only the added messages are read. */
function calledIn(messages: Messages): ReadonlySet<string> {
  const known = calledNames.get(messages);
  const added = known && messages.since(known.messages);
  const names = new Set(added && known.names);
  for (const { role, content } of added ?? messages) {
    if (role !== 'assistant') continue;
    for (const part of content) if (isCall(part)) names.add(part.toolName);
  }
  calledNames.set(messages, { messages, names });
  return names;
}

/** The number of lists that are cached for the tools of a loop: models can call any names. */
const MAX_LISTS = 100;
const lists = new WeakMap<readonly ToolDescription[], Map<string, readonly ToolDescription[]>>();

/** The lists by their names: the same names give the same list object, by which drivers cache converted tools. */
function declared(tools: readonly ToolDescription[], missing: readonly string[]): readonly ToolDescription[] {
  const known = lists.get(tools) ?? new Map<string, readonly ToolDescription[]>();
  lists.set(tools, known);
  const key = missing.join(' ');
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  const list = Object.freeze([...tools, ...missing.map(unavailable)]);
  if (known.size >= MAX_LISTS) known.clear();
  known.set(key, list);
  return list;
}

function unavailable(name: string): ToolDescription {
  const inputSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) });
  return Object.freeze({ name, description: 'This tool is not available.', inputSchema });
}
