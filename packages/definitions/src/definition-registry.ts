import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { AgentDefinition } from '@holdfast/core';
import { DefinitionError } from './definition-error.ts';
import type { DefinitionProblem } from './definition-error.ts';
import { formatOf } from './definition-format.ts';
import type { LocatedDefinition } from './parse-definition.ts';
import { ProblemReport } from './problem-report.ts';
import { readFromDisk, readLocated } from './read-definition.ts';

/**
 * The definitions of a folder, by name and version. Immutable: `load` again to see what changed on the disk.
 * @example const writer = (await DefinitionRegistry.load('agents')).get('writer');
 */
export class DefinitionRegistry implements Iterable<AgentDefinition> {
  private readonly definitions: readonly AgentDefinition[];

  private constructor(definitions: readonly AgentDefinition[]) {
    this.definitions = Object.freeze(definitions);
    Object.freeze(this);
  }

  /**
   * Reads the definition files of a folder and of the folders in it. What begins with `.` or `_` is left out, and so are
   * files of other endings. Links to files are followed, links to folders are not.
   * @throws DefinitionError with the problems of all files; two definitions of one name and version are one. TypeError
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

  /** Each name once, in the order of the files. */
  get names(): readonly string[] {
    return [...new Set(this.definitions.map(({ name }) => name))];
  }

  /** Is there a definition of that name, and of that version if one is said? */
  has(name: string, version?: string): boolean {
    return this.definitions.some((one) => one.name === name && (version ?? one.version) === one.version);
  }

  /**
   * The definition of a name and version. Without a version: the one that has none, or the only one.
   * @throws HoldfastError `AGENT_NOT_FOUND` when there is none, or more than one; the message says what there is.
   */
  get(name: string, version?: string): AgentDefinition {
    const named = this.definitions.filter((one) => one.name === name);
    const exact = named.find((one) => one.version === version);
    const only = version === undefined && named.length === 1 ? named[0] : undefined;
    const definition = exact ?? only;
    if (definition) return definition;
    throw new HoldfastError('AGENT_NOT_FOUND', this.missing(name, version, named));
  }

  /** All of them, in the order of the files. */
  [Symbol.iterator](): IterableIterator<AgentDefinition> {
    return this.definitions.values();
  }

  private missing(name: string, version: string | undefined, named: readonly AgentDefinition[]): string {
    const wanted = version === undefined ? `"${name}"` : `"${name}" in version "${version}"`;
    if (named.length === 0) {
      return `There is no definition of an agent ${wanted}. There are: ${this.names.join(', ') || 'none'}.`;
    }
    const versions = named.map((one) => one.version ?? 'one without a version').join(', ');
    return `There is no one definition of an agent ${wanted}. Ask for a version that there is: ${versions}.`;
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
    const expected = 'a name and version that no other file has';
    const advice = 'Rename one of them, or give it a version of its own.';
    problems.push({ file, ...place, key: 'name', expected, found: `the same in ${first}`, advice });
  }
  return problems;
}
