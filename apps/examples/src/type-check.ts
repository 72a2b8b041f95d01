import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './pages.ts';

const compiler = join(repository, 'node_modules/@typescript/native/bin/tsc');

/** A problem that the compiler found, with the path and the line of the page. */
interface Diagnostic {
  /** The path of the page, or an empty text for a problem outside of the pages. */
  readonly page: string;
  readonly message: string;
}

/** Checks the types of all pages of a project, and of every declaration that they reach. */
export async function typeErrors(project: string): Promise<readonly Diagnostic[]> {
  const output = await compilerOutput(project);
  return output
    .split(/\n(?! )/)
    .filter(Boolean)
    .map(readMessage);
}

/** The output of the compiler: empty when all types fit. */
function compilerOutput(project: string): Promise<string> {
  const args = [compiler, '-p', project, '--pretty', 'false'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: project }, (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}`.trim() || error.message : '');
    });
  });
}

/** The lines of a file are those of its page. */
function readMessage(message: string): Diagnostic {
  const [, page, line, text] = /^pages\/(.+?\.md)\/[^(]+\((\d+),\d+\): ([^]*)$/.exec(message) ?? [];
  return page === undefined ? { page: '', message } : { page, message: `${page}:${line}: ${text}` };
}
