import { HoldfastError } from '@holdfast/core';

/** A problem in a definition file. */
export interface DefinitionProblem {
  /** The file, as the caller named it, or its path below the folder that the caller named. */
  readonly file: string;
  /** The line, counted from 1. Absent for a problem without a position, such as a missing key. */
  readonly line?: number;
  /** The column, counted from 1. Absent without a line. */
  readonly column?: number;
  /** The key, as in `budget.maxSteps` or `tools[1]`. Absent for a problem that is not of a key. */
  readonly key?: string;
  /** The valid values, in words. */
  readonly expected: string;
  /** The value in the file, in words. */
  readonly found: string;
  /** How to fix the problem, as a sentence. */
  readonly advice: string;
}

/** Thrown for invalid definition files. Its code is `DEFINITION_INVALID`; `data.problems` equals `problems`. */
export class DefinitionError extends HoldfastError {
  /** All problems, at most 50 of each file. The problems of one file are in the order of its lines. */
  readonly problems: readonly DefinitionProblem[];

  constructor(problems: readonly DefinitionProblem[]) {
    const frozen = Object.freeze(problems.map((problem) => Object.freeze({ ...problem })));
    super('DEFINITION_INVALID', problemsMessage(frozen), { data: { problems: frozen } });
    this.problems = frozen;
  }
}

function problemsMessage(problems: readonly DefinitionProblem[]): string {
  const lines = problems.map(lineOf);
  return lines.length === 1
    ? `Invalid agent definition: ${lines[0]}`
    : [`${lines.length} problems in agent definitions:`, ...lines].join('\n  ');
}

function lineOf({ file, line, column, key, expected, found, advice }: DefinitionProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: ${key === undefined ? '' : `${key}: `}expected ${expected}, found ${found}. ${advice}`;
}
