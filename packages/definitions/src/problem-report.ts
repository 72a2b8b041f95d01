import { DefinitionError, type DefinitionProblem } from './definition-error.ts';

/** The most problems of one file, so that a hostile file costs little. */
const MAX_PROBLEMS = 50;
const MAX_TEXT = 160;

/** Collects the problems of one file. */
export class ProblemReport {
  readonly file: string;
  private readonly problems: DefinitionProblem[] = [];

  constructor(file: string) {
    this.file = file;
  }

  get isFull(): boolean {
    return this.problems.length >= MAX_PROBLEMS;
  }

  add(problem: Omit<DefinitionProblem, 'file'>): void {
    if (this.isFull) return;
    const found = shorten(problem.found);
    const key = problem.key === undefined ? undefined : { key: shorten(problem.key) };
    this.problems.push({ file: this.file, ...problem, ...key, found });
  }

  /** Adds a problem that makes further checks impossible. @throws DefinitionError with all problems. */
  fail(problem: Omit<DefinitionProblem, 'file'>): never {
    this.add(problem);
    throw this.toError();
  }

  /** @throws DefinitionError when there are problems. */
  throwIfAny(): void {
    if (this.problems.length > 0) throw this.toError();
  }

  private toError(): DefinitionError {
    return new DefinitionError(this.problems.toSorted(byPlace));
  }
}

/** Orders problems by line and column. Problems without a line, such as missing keys, come last. */
function byPlace(left: DefinitionProblem, right: DefinitionProblem): number {
  const [last, none] = [Number.MAX_SAFE_INTEGER, 0];
  return (left.line ?? last) - (right.line ?? last) || (left.column ?? none) - (right.column ?? none);
}

/** Makes a text a part of a sentence: truncates it, and removes a full stop at its end. */
function shorten(text: string): string {
  return (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text).replace(/\.$/, '');
}
