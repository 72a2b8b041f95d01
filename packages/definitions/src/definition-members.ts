import { agentDefinition, HoldfastError } from '@holdfast/core';
import type { AgentDefinition } from '@holdfast/core';
import { parseInstant } from './parse-instant.ts';

/** Members of an object whose names were checked and whose values were not. */
export type Members = Readonly<Record<string, unknown>>;

/** A place in a definition that does not fit. */
export interface Misfit {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  readonly found: string;
}

/**
 * One member of a file in a definition's terms: the short forms written out. What is wrong stays as it is, for core to
 * refuse.
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

/** The definition that a file's members make. @throws HoldfastError `CONTEXT_INVALID` when they do not fit. */
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

/** What core says about some members of a definition; `undefined` when they fit. */
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

/** Is it an object with members, and not a list? */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
