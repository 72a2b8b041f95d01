import { pause } from '../../clock.ts';
import type { RunState } from './run-state.ts';

/**
 * Waits in the process until the loop repeats a failed call of the model, when the pause is short. Returns false when
 * the step waits for something else or for longer; the execution is then suspended.
 */
export async function waitForRetry(run: RunState): Promise<boolean> {
  const { clock, retry } = run.loop;
  const retryAt = run.state.currentStep?.pendingRetry?.retryAt;
  if (retryAt === undefined) return false;
  const delay = retryAt - run.now();
  if (delay > retry.maxPause) return false;
  await run.checkpointer.save(run, 'inference'); // the failed call counts, also after a crash
  const isDue = delay <= 0 || (await pause(clock, delay, run.signal));
  if (isDue) run.advance({ type: 'inferenceRetried', at: run.now() });
  else run.checkAbort();
  return true;
}
