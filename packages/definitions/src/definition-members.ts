import { agentDefinition, HoldfastError, type AgentDefinition } from '@holdfast/core';
import { parseInstant } from './parse-instant.ts';

/** Members of an object. Their values are not checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** An invalid value in a definition. */
export interface Misfit {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  readonly found: string;
}

/**
 * Converts a member of a file to members of a definition: expands short forms, such as `model` and a deadline as text.
 * Does not change invalid values, which the core refuses.
 */
export function toDefinitionMembers(key: string, value: unknown): Members {
  if (key === 'model') return { llmConfig: { model: value } };
  if (key === 'tools' || key === 'toolsDeny')
    return { [key]: typeof value === 'string' ? toNames(value) : value };
  if (key === 'capabilities' && isMembers(value)) {
    return {
      [key]: Object.fromEntries(Object.entries(value).map(([name, options]) => [name, options ?? {}])),
    };
  }
  if (key === 'budget' && isMembers(value) && typeof value['deadline'] === 'string') {
    return { [key]: { ...value, deadline: parseInstant(value['deadline']) ?? value['deadline'] } };
  }
  return { [key]: value };
}

function toNames(text: string): readonly string[] | string {
  const names = text.split(',').map((name) => name.trim());
  return names.includes('') ? text : names;
}

/** Creates the definition of a file's members. @throws HoldfastError `CONTEXT_INVALID` for invalid members. */
export function toDefinition(members: Members): AgentDefinition {
  const definition: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(members)) {
    for (const [name, member] of Object.entries(toDefinitionMembers(key, value))) {
      const before = definition[name];
      definition[name] = isMembers(before) && isMembers(member) ? { ...before, ...member } : member;
    }
  }
  return agentDefinition(definition as unknown as AgentDefinition);
}

/** Returns the first invalid value that the core finds in members of a definition; `undefined` for valid members. */
export function misfitOf(members: Members): Misfit | undefined {
  try {
    agentDefinition({ name: 'any', ...members });
    return undefined;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const {
      path = '$',
      expected = 'JSON',
      found = error.message,
    } = (error.data ?? {}) as Partial<Record<string, string>>;
    return { path: keysOf(path), expected, found };
  }
}

/** The keys of a path such as `$.capabilities["a b"].list[0]`. */
function keysOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)].map(
    ([, name, index, quoted]) =>
      name ?? (index === undefined ? String(JSON.parse(quoted ?? '""')) : Number(index)),
  );
}

/** True for an object that is not an array. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
