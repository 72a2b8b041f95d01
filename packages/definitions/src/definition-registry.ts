import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError, type AgentDefinition } from '@holdfast/core';
import { checkArgument, mustBe } from '@holdfast/core/engine';
import { DefinitionError, type DefinitionProblem } from './definition-error.ts';
import { formatOf } from './definition-format.ts';
import type { LocatedDefinition } from './parse-definition.ts';
import { ProblemReport } from './problem-report.ts';
import { readFromDisk, readLocated } from './read-definition.ts';

/**
 * Holds the definitions of a folder, by name and version. A registry is immutable: call `load` again to read changed
 * files.
 * @example const writer = (await DefinitionRegistry.load('agents')).get('writer');
 */
export class DefinitionRegistry implements Iterable<AgentDefinition> {
  private readonly definitions: readonly AgentDefinition[];

  private constructor(definitions: readonly AgentDefinition[]) {
    this.definitions = Object.freeze(definitions);
    Object.freeze(this);
  }

  /**
   * Reads the definition files of a folder and its subfolders. Ignores files and folders whose names begin with `.` or
   * `_`, and files with other extensions. Follows links to files, but not links to folders.
   * @throws DefinitionError with the problems of all files, also when two files have the same name and version; TypeError
   * `ARGUMENT_INVALID` for a path that is not a string.
   */
  static async load(folder: string): Promise<DefinitionRegistry> {
    checkArgument('The path of a folder', folder, mustBe.string);
    const problems: DefinitionProblem[] = [];
    const found: FoundDefinition[] = [];
    for (const file of await filesIn(folder, problems)) {
      const placed = await collectProblems(problems, () => readLocated(file));
      if (placed) found.push({ file, ...placed });
    }
    problems.push(...duplicatesIn(found));
    if (problems.length > 0) throw new DefinitionError(problems);
    return new DefinitionRegistry(found.map(({ definition }) => definition));
  }

  /** The names of the definitions without duplicates, in the order of the files. */
  get names(): readonly string[] {
    return [...new Set(this.definitions.map(({ name }) => name))];
  }

  /** True when the registry has a definition with this name, and with this version if the caller passes a version. */
  has(name: string, version?: string): boolean {
    return this.definitions.some((one) => one.name === name && (version ?? one.version) === one.version);
  }

  /**
   * Returns the definition with a name and version. Without the argument `version`, returns the definition that has no
   * version, or else the only definition with the name.
   * @throws HoldfastError `AGENT_NOT_FOUND` for an unknown name or version, and for a name with several versions when the
   * caller passes no version. The message lists the known names or versions.
   */
  get(name: string, version?: string): AgentDefinition {
    const named = this.definitions.filter((one) => one.name === name);
    const exact = named.find((one) => one.version === version);
    const only = version === undefined && named.length === 1 ? named[0] : undefined;
    const definition = exact ?? only;
    if (definition) return definition;
    throw new HoldfastError('AGENT_NOT_FOUND', this.missing(name, version, named));
  }

  /** Iterates over all definitions, in the order of the files. */
  [Symbol.iterator](): IterableIterator<AgentDefinition> {
    return this.definitions.values();
  }

  private missing(name: string, version: string | undefined, named: readonly AgentDefinition[]): string {
    if (named.length === 0) {
      return `Unknown agent "${name}". Known agents: ${this.names.join(', ') || 'none'}.`;
    }
    const versions = named.map((one) => one.version ?? 'no version').join(', ');
    return version === undefined
      ? `Agent "${name}" has several versions. Pass one of them: ${versions}.`
      : `Unknown version "${version}" of agent "${name}". Known versions: ${versions}.`;
  }
}

interface FoundDefinition extends LocatedDefinition {
  readonly file: string;
}

async function collectProblems<T>(
  problems: DefinitionProblem[],
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

async function filesIn(folder: string, problems: DefinitionProblem[]): Promise<string[]> {
  const report = new ProblemReport(folder);
  const list = () => readFromDisk(report, 'a folder', () => readdir(folder, { withFileTypes: true }));
  const entries = (await collectProblems(problems, list)) ?? [];
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  const files: string[] = [];
  for (const entry of entries) {
    if (/^[._]/.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesIn(path, problems)));
    else if (formatOf(entry.name) !== undefined) files.push(path);
  }
  return files;
}

function duplicatesIn(found: readonly FoundDefinition[]): DefinitionProblem[] {
  const files = new Map<string, string>();
  const problems: DefinitionProblem[] = [];
  for (const { file, definition, place } of found) {
    const identity = JSON.stringify([definition.name, definition.version]);
    const first = files.get(identity);
    files.set(identity, first ?? file);
    if (first === undefined) continue;
    const expected = 'a unique name and version';
    const found = `the same name and version in ${first}`;
    const advice = 'Rename one of the agents, or set another version.';
    problems.push({ file, ...place, key: 'name', expected, found, advice });
  }
  return problems;
}
