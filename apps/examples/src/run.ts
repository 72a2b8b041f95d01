import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileNameOf, outputOf, type Block } from './blocks.ts';
import { COMPILED } from './project.ts';

/** A program that never ends is stopped. */
const TIMEOUT_MS = 600_000;

/** A program, where it is, and what it finds in its environment. */
export interface Program {
  readonly block: Block;
  readonly page: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The output of a program. If it fits the expected output of the block, the expected output itself, so that both can be compared. */
export async function printedBy(program: Program): Promise<string> {
  const [expected, printed] = [outputOf(program.block), await standardOutputOf(program)];
  return asPattern(expected).test(printed) ? expected : printed;
}

/** Runs a program in the folder of its page. @throws Error with what it wrote, and the lines of the page. */
function standardOutputOf({ block, page, project, env }: Program): Promise<string> {
  const cwd = join(project, 'pages', page);
  const cache = { NODE_COMPILE_CACHE: join(project, COMPILED), NODE_COMPILE_CACHE_PORTABLE: '1' };
  const options = { cwd, env: { ...process.env, ...cache, ...env }, timeout: TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [fileNameOf(block) ?? ''], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.replaceAll(/[ \t]+$/gm, '').trimEnd());
      const written = [stderr || error.message, stdout].join('\n').replaceAll(placesIn(cwd), `${page}$1`);
      const end = error.killed ? 'was stopped after ten minutes' : 'failed';
      reject(new Error(`The program at ${page}:${block.line} ${end}.\n${written}`));
    });
  });
}

/** Places in the files of a folder, as stack traces name them: a line of a file is the line of its page. */
function placesIn(folder: string): RegExp {
  return new RegExp(`(?:file://)?${escaped(folder)}/[^:\\s]+(:\\d+)`, 'g');
}

function asPattern(expected: string): RegExp {
  return new RegExp(`^${expected.split('…').map(escaped).join('[^]*?')}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
