import { readFile, stat } from 'node:fs/promises';
import { checkArgument, mustBe } from '@holdfast/core/engine';
import type { AgentDefinition } from '@holdfast/core';
import { DEFINITION_ENDINGS, formatOf } from './definition-format.ts';
import { checkSize, parseLocated, type LocatedDefinition } from './parse-definition.ts';
import { ProblemReport } from './problem-report.ts';

/**
 * Reads the definition in a file: Markdown with front matter (`.md`), YAML (`.yaml`, `.yml`) or JSON (`.json`).
 * @throws DefinitionError with all problems of the file, also when the file cannot be read; TypeError `ARGUMENT_INVALID` for
 * a path that is not a string.
 */
export async function readDefinition(path: string): Promise<AgentDefinition> {
  checkArgument('The path of a definition', path, mustBe.string);
  return (await readLocated(path)).definition;
}

/** Like `readDefinition`, and returns the position of the name too. @internal */
export async function readLocated(path: string): Promise<LocatedDefinition> {
  const report = new ProblemReport(path);
  if (formatOf(path) === undefined) {
    const advice = 'Rename the file, or pass its text and format to parseDefinition.';
    report.fail({ expected: `a file name that ends in one of ${DEFINITION_ENDINGS}`, found: path, advice });
  }
  return parseLocated(decode(await readBytes(path, report), report), { file: path });
}

async function readBytes(path: string, report: ProblemReport): Promise<Uint8Array> {
  const size = await readFromDisk(report, 'a file', async () => {
    const status = await stat(path);
    // A read of a pipe or a device may never end.
    if (!status.isFile()) throw new Error('a folder, a pipe or a device');
    return status.size;
  });
  checkSize(size, report);
  return readFromDisk(report, 'a file', () => readFile(path));
}

function decode(bytes: Uint8Array, report: ProblemReport): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return report.fail({
      expected: 'text in UTF-8',
      found: 'another encoding',
      advice: 'Save the file as UTF-8.',
    });
  }
}

/** Calls a function that reads from the disk. @throws DefinitionError with the system's error as a problem. @internal */
export async function readFromDisk<T>(
  report: ProblemReport,
  expected: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return report.fail({ expected, found, advice: 'Check the path and its permissions.' });
  }
}
