import { HoldfastError } from '@holdfast/core';

/** One thing that does not fit in a definition file. */
export interface DefinitionProblem {
  /** The file, as it was named to whoever read it. */
  readonly file: string;
  /** Line and column, both counted from 1; absent when the problem is something that is not there. */
  readonly line?: number;
  readonly column?: number;
  /** The key, as in `budget.maxSteps` or `tools[1]`; absent when it is the file as a whole. */
  readonly key?: string;
  readonly expected: string;
  readonly found: string;
  /** What to do, as a sentence. */
  readonly advice: string;
}

/** Definition files that cannot be used: code `DEFINITION_INVALID`. `data.problems` are the same as `problems`. */
export class DefinitionError extends HoldfastError {
  /** All that was found; those of one file in the order of its lines, at most 50. */
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
