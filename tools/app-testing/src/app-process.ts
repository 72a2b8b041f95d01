import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onEnd } from './on-end.ts';

/** A process that runs a script of a package, with the processes below it. It ends with the test file. */
export class AppProcess {
  private readonly group: number; // of processes: the script, and what it starts
  private readonly ended: Promise<unknown>;
  private output = '';
  private isOver = false;
  private onOutput = (): void => undefined;

  private constructor(folder: string, script: string, env: Readonly<Record<string, string>>) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const child = spawn(process.execPath, ['--run', script], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, ...env },
    });
    if (child.pid === undefined) throw new Error(`The script ${script} did not start.`);
    this.group = child.pid;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.onOutput();
      });
    this.ended = once(child, 'close').finally(() => {
      this.isOver = true;
      this.onOutput();
    });
  }

  /** Starts a script of the package in a folder. */
  static start(folder: string, script: string, env: Readonly<Record<string, string>> = {}): AppProcess {
    const app = new AppProcess(folder, script, env);
    onEnd(() => app.kill());
    return app;
  }

  /** Kills the processes, which get no chance to react, and waits for their end. */
  async kill(): Promise<void> {
    if (!this.isOver) process.kill(-this.group, 'SIGKILL');
    await this.ended;
  }

  /** Waits until the output contains a pattern, and returns its groups. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found) return found;
      if (this.isOver) throw new Error(`The process ended without printing ${pattern}:\n${this.output}`);
      await new Promise<void>((resolve) => (this.onOutput = resolve));
    }
  }
}
