import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { text } from 'node:stream/consumers';

const TIMEOUT = 600_000;
const FLAGS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];

/** The environment of measured processes: the paths of programs, and the telemetry of all frameworks off. */
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  REDIS_SERVER: process.env['REDIS_SERVER'],
  NODE_ENV: 'production',
  DO_NOT_TRACK: '1',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  OPENAI_API_KEY: 'none',
  OTEL_SDK_DISABLED: 'true',
};

/**
 * Runs a module in a fresh process, with the task as JSON in its first argument, and answers the message that it sends;
 * `Answer` is what that module is known to send. It gets the flags that Node was started with, so that `--cpu-prof`
 * profiles it too. @throws Error with the error that the process wrote when it fails.
 */
export async function inFreshProcess<Answer>(
  worker: URL,
  task: object,
  flags: readonly string[] = FLAGS,
): Promise<Answer> {
  const child = fork(worker, [JSON.stringify(task)], {
    env: ENVIRONMENT,
    execArgv: [...process.execArgv, ...flags],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: TIMEOUT,
  });
  let answer: { readonly message: unknown } | undefined;
  child.on('message', (message) => (answer = { message }));
  const written = child.stderr ? text(child.stderr) : Promise.resolve('');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (answer) return answer.message as Answer;
  throw new Error(`ended with ${code ?? signal}: ${reasonIn((await written).trim())}`);
}

/** The line of the error that a process wrote at its end, or the last that it wrote. */
function reasonIn(written: string): string {
  return /^\w*Error\b.*$/m.exec(written)?.[0] ?? written.slice(-400);
}

/** Prints what is measured, and runs it as `inFreshProcess` does. Notes a failure, and then returns `undefined`. */
export async function measured<Answer>(
  what: string,
  worker: URL,
  task: object,
  notes: Set<string>,
): Promise<Answer | undefined> {
  console.error(what);
  try {
    return await inFreshProcess<Answer>(worker, task);
  } catch (error) {
    notes.add(`Failed: ${what}: ${String(error)}`);
    return undefined;
  }
}

/** The line of a report about its machine. */
export function machine(): string {
  const load = loadavg()[0]?.toFixed(1);
  return `Node ${process.version}, ${availableParallelism()} CPUs, load ${load}`;
}

/** Milliseconds of CPU that all threads of this process have used since a reading. */
export function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
