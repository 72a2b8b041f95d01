import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Task } from './worker.ts';
import type { Metrics } from './workloads.ts';

const WORKER = new URL('./worker.ts', import.meta.url);
const TIMEOUT = 300_000;

/** Nothing of this process's settings, and no framework reports what it does. */
const ENVIRONMENT = {
  NODE_ENV: 'production',
  DO_NOT_TRACK: '1',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  OPENAI_API_KEY: 'none',
  OTEL_SDK_DISABLED: 'true',
};

/** Does a task in a fresh process. @throws Error with the end of what the process wrote when it fails. */
export async function inFreshProcess(task: Task): Promise<Metrics> {
  const child = fork(WORKER, [JSON.stringify(task)], {
    env: ENVIRONMENT,
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: TIMEOUT,
  });
  let metrics: Metrics | undefined;
  child.on('message', (message) => (metrics = message as Metrics));
  const written = child.stderr ? text(child.stderr) : Promise.resolve('');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (metrics) return metrics;
  throw new Error(`ended with ${code ?? signal}: ${(await written).trim().slice(-400)}`);
}
