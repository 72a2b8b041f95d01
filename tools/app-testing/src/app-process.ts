import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onEnd } from './on-end.ts';

type Environment = Readonly<Record<string, string>>;

/** A process of Node.js, with the processes below it. It ends with the test file. */
export class AppProcess {
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string>;
  stdout = '';
  stderr = '';
  private readonly group: number; // of processes: the program, and what it starts
  private isOver = false;
  private onOutput = (): void => undefined;

  private constructor(args: readonly string[], env: Environment, cwd?: string) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const child = spawn(process.execPath, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, ...env },
    });
    if (child.pid === undefined) throw new Error(`The process did not start: ${args.join(' ')}.`);
    this.group = child.pid;
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
        this.onOutput();
      });
    this.ended = once(child, 'close').then(([code, signal]: (number | string)[]) => {
      this.isOver = true;
      this.onOutput();
      return code ?? signal ?? 'unknown';
    });
    onEnd(() => this.kill());
  }

  /** Starts a script of the package in a folder. */
  static start(folder: string, script: string, env: Environment = {}): AppProcess {
    return new AppProcess(['--run', script], env, folder);
  }

  /** Starts Node.js with these arguments. */
  static node(args: readonly string[], env: Environment = {}): AppProcess {
    return new AppProcess(args, env);
  }

  /** Sends a signal to the processes, and waits for their end. SIGKILL gives them no chance to react. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string> {
    if (!this.isOver) process.kill(-this.group, signal);
    return this.ended;
  }

  /** Waits until the output contains a pattern, and returns its groups. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const output = this.stdout + this.stderr;
      const found = pattern.exec(output);
      if (found) return found;
      if (this.isOver) throw new Error(`The process ended without printing ${pattern}:\n${output}`);
      await new Promise<void>((resolve) => (this.onOutput = resolve));
    }
  }
}
