import { DefinitionError, type DefinitionProblem } from '@holdfast/definitions';
import { expect } from 'vitest';

/** The DefinitionError that a function throws. Fails when the function returns or throws another error. */
export async function refusalOf(work: () => unknown): Promise<DefinitionError> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(DefinitionError);
    const { code, data, problems } = error as DefinitionError;
    expect([code, data]).toEqual(['DEFINITION_INVALID', { problems }]);
    return error as DefinitionError;
  }
  return expect.fail('There was no problem.');
}

/** The problems of the DefinitionError that a function throws. */
export async function problemsOf(work: () => unknown): Promise<readonly DefinitionProblem[]> {
  return (await refusalOf(work)).problems;
}

/** The locations of the problems, as `file:line:column: key`. */
export async function placesOf(work: () => unknown): Promise<string[]> {
  return (await problemsOf(work)).map(
    ({ file, line, column, key }) =>
      [file, line, column].filter((part) => part !== undefined).join(':') +
      (key === undefined ? '' : `: ${key}`),
  );
}
