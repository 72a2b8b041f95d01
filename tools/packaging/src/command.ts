import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where a command runs, and for how long it may. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

const TIMEOUT = 300_000;
const MAX_OUTPUT = 64 * 2 ** 20;

/** Runs a program and returns what it writes to standard output. @throws Error with all that it wrote when it fails. */
export async function outputOf(
  [program, ...args]: readonly [program: string, ...args: string[]],
  options: CommandOptions,
): Promise<string> {
  try {
    const limits = { timeout: TIMEOUT, maxBuffer: MAX_OUTPUT };
    const { stdout } = await run(program, args, { ...options, ...limits });
    return stdout.trim();
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error([message, stdout, stderr].join('\n').trim(), { cause: error });
  }
}
