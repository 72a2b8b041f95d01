import { InProcessEngine } from '@holdfast/core';
import type { Command } from '../command-line.ts';
import { openPlayground } from '../playground.ts';
import { startServer } from './server.ts';
import { startWork } from './work.ts';

type Serve = Extract<Command, { type: 'serve' }>;

/** Serves the page and works on the sessions until a signal ends the process; returns the exit code. */
export async function serve({ settings, port }: Serve): Promise<number> {
  const playground = await openPlayground(settings);
  const engine = new InProcessEngine();
  try {
    const server = await startServer({ playground, engine }, port);
    const stopWork = await startWork(playground, engine);
    // Before the ready line: its reader may end the process at once.
    const end = toldToEnd();
    const { model, storeName } = playground;
    process.stdout.write(
      `Holdfast playground: ${server.url} (${model.label}; sessions in ${storeName}; data in ${settings.data})\n`,
    );
    await end;
    await stopWork();
    await server.close();
    return 0;
  } catch (error) {
    throw portError(error, port) ?? error;
  } finally {
    await playground.close();
  }
}

/** Resolves on the first SIGINT or SIGTERM; a second one ends the process at once. */
function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

function portError(error: unknown, port: number): Error | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} is taken. Stop the process that uses it, or choose another port: --port 0 picks a free one.`,
    );
  }
  return code === 'EACCES'
    ? new Error(`Port ${port} needs more rights. Choose a port above 1023.`)
    : undefined;
}
