import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, inject } from 'vitest';

/** The arguments of Node with which `pnpm playground` starts the playground. */
const sources = [
  '--conditions=@holdfast/source',
  fileURLToPath(new URL('../../src/main.ts', import.meta.url)),
];
/** A bound for what hangs, in milliseconds. */
const patience = 240_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;
type Environment = Readonly<Record<string, string>>;

/** How a playground starts: from its sources, or from the bundle of the test run, which is faster. */
type Form = 'sources' | 'bundle';

/** The playground as a process of its own, and what it has printed so far. */
class PlaygroundProcess {
  readonly child: Child;
  stdout = '';
  stderr = '';
  private readonly ended: Promise<number | string>;

  constructor(args: readonly string[], environment: Environment = {}, form: Form = 'bundle') {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const program = form === 'sources' ? sources : [inject('playground')];
    this.child = spawn(process.execPath, [...program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, PARCEL_SECONDS: '2', ...environment },
    });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(
      ([code, signal]: (number | string)[]) => code ?? signal ?? 'unknown',
    );
  }

  /** The exit code, or the signal that ended it. */
  end(): Promise<number | string> {
    return within(this.ended, () => `the end of the process\n${this.stdout}${this.stderr}`);
  }

  /** Ends it with a signal and waits until it is gone. */
  async kill(signal: NodeJS.Signals): Promise<number | string> {
    this.child.kill(signal);
    return this.end();
  }

  /** What a pattern found in the output, as soon as it does. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return eventually(
      () => {
        const found = pattern.exec(this.stdout);
        if (found || this.child.exitCode === null) return found;
        throw new Error(`The process ended without printing ${pattern}.\n${this.stdout}${this.stderr}`);
      },
      () => `${pattern} in\n${this.stdout}${this.stderr}`,
    );
  }
}

const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** A process that is gone when the test file is done, however that ends. */
export function start(args: readonly string[], environment?: Environment, form?: Form): PlaygroundProcess {
  const playground = new PlaygroundProcess(args, environment, form);
  cleanups.push(() => playground.kill('SIGKILL'));
  return playground;
}

/** Runs it to the end. */
export async function run(args: readonly string[], environment?: Environment) {
  const playground = start(args, environment);
  const code = await playground.end();
  return { code, stdout: playground.stdout, stderr: playground.stderr };
}

/** Serves the page; `url` is where. */
export async function serve(args: readonly string[], environment?: Environment, form?: Form) {
  const playground = start(args, environment, form);
  const [, url = ''] = await playground.printed(/^Holdfast playground: (\S+) /m);
  return { playground, url };
}

/** With this in its environment a parcel is under way until something ends it. */
export const endlessParcels: Environment = { PARCEL_SECONDS: '600' };

/** A new data folder, which is removed when the test file is done. */
export async function dataFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-playground-'));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The first result that is there; looks until then. */
async function eventually<T>(
  look: () => T | null | undefined | Promise<T | null | undefined>,
  what: () => string = () => 'a condition',
): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

async function within<T>(work: Promise<T>, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited in vain for ${what()}`)), patience);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
