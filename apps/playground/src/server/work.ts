import { sweep, type ExecutionEngine } from '@holdfast/core/engine';
import { errorText } from '../error-text.ts';
import { printable } from '../invisible.ts';
import { leaseSeconds, type Playground } from '../playground.ts';

/** The milliseconds between two looks for the sessions of dead processes. */
const SWEEP_PAUSE = 1_000;

/**
 * Works on every session that needs it, also on those that a dead process has left. Returns the function that ends the
 * work: running tools finish, and another process continues the runs.
 */
export async function startWork(
  { runtime, store }: Playground,
  engine: ExecutionEngine,
): Promise<() => Promise<void>> {
  const worker = await engine.serve((id, options) => runtime.advance(id, options), { onError: report });
  // A store that does not reply is asked again.
  const look = () => void sweep(store, engine, { againAfterSeconds: leaseSeconds }).catch(() => undefined);
  const timer = setInterval(look, SWEEP_PAUSE);
  look();
  return async () => {
    clearInterval(timer);
    await worker.stop();
  };
}

function report(error: unknown, sessionId: string | undefined): void {
  const what = sessionId === undefined ? 'The queue of the engine' : `The work on session ${sessionId}`;
  process.stderr.write(`${printable(`${what} failed: ${errorText(error)}`)}\n`);
}
