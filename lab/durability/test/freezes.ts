import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerProcess } from './worker-process.ts';

/** Thaws a worker by another process: this process may itself be blocked by the file that the worker has locked. */
export function thawLater({ pid }: WorkerProcess, seconds: number): Promise<unknown> {
  return once(
    spawn('sh', ['-c', `sleep ${seconds}; kill -CONT ${pid} || true`], { stdio: 'ignore' }),
    'exit',
  );
}
