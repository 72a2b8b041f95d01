import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** One line of the log. */
export interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
export const AGENTS = fileURLToPath(new URL('agents.ts', import.meta.url));

/** A process of the command. It ends with the test. */
export class WorkerProcess {
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
  private readonly child: ChildProcess;
  private stdout = '';
  private stderr = '';
  private isOver = false;
  private onOutput = (): void => undefined;

  private constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const flags = ['--conditions=@holdfast/source', '--disable-warning=ExperimentalWarning'];
    this.child = spawn(process.execPath, [...flags, MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, ...env },
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.onOutput();
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      this.isOver = true;
      this.onOutput();
      return [code as number | null, signal as string | null];
    });
  }

  /** Starts the command. */
  static start(args: readonly string[], env: Readonly<Record<string, string>> = {}): WorkerProcess {
    const worker = new WorkerProcess(args, env);
    onTestFinished(async () => {
      worker.kill('SIGKILL');
      await worker.ended;
    });
    return worker;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get output(): { readonly stdout: string; readonly stderr: string } {
    return { stdout: this.stdout, stderr: this.stderr };
  }

  get lines(): readonly Line[] {
    const texts = this.stdout.split('\n').slice(0, -1);
    return texts.map((text) => JSON.parse(text) as Line);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits for a line of the log with this message. */
  async logged(message: string): Promise<Line> {
    for (;;) {
      const found = this.lines.find((line) => line.message === message);
      if (found) return found;
      if (this.isOver) throw new Error(`The worker ended:\n${this.stdout}${this.stderr}`);
      await new Promise<void>((resolve) => (this.onOutput = resolve));
    }
  }

  /** Waits until the worker serves, and returns the address of its HTTP server. */
  async url(): Promise<string> {
    const { port } = await this.logged('The worker serves.');
    return `http://127.0.0.1:${String(port)}`;
  }
}
