import type { CaseRun } from '../run/case-run.ts';
import { conformanceTest, type ConformanceTest } from '../run/conformance-test.ts';
import { DEFAULT_LIMIT_SECONDS } from '../run/harness.ts';
import { checkEngineHarness, type EngineHarness } from './case/engine-case.ts';
import { engineCases } from './engine-cases.ts';
import type { WorkerProcess } from './case/worker-messages.ts';

/**
 * Converts the cases to tests of one engine. Cases that need a missing ability become skipped tests. With `node:test`
 * (and Vitest):
 *
 * ```ts
 * for (const { name, skip, run } of engineTests({ create, clock: true })) test(name, { skip }, run);
 * ```
 * @throws TypeError or RangeError `ARGUMENT_INVALID` for an unknown member of the harness or an invalid value
 */
export function engineTests(harness: EngineHarness): readonly ConformanceTest[] {
  checkEngineHarness(harness);
  const { turnMilliseconds = 0, lockSeconds = 30, processes } = harness;
  const locks = processes ? 10 * lockSeconds : 0;
  const limitSeconds = harness.limitSeconds ?? DEFAULT_LIMIT_SECONDS + turnMilliseconds + locks;
  return engineCases.map((one) => {
    const skip = one.needs !== undefined && !harness[one.needs];
    return conformanceTest(one, { skip, limitSeconds }, (run) => {
      const { create, ...abilities } = engineHarnessOf(harness, run);
      return one.run(create, abilities);
    });
  });
}

/** The harness for one run, which watches and closes its engines, and kills its processes. */
function engineHarnessOf(harness: EngineHarness, run: CaseRun): EngineHarness {
  const { create, reopen, processes } = harness;
  const results = { serve: 'worker' };
  return {
    ...harness,
    create: run.creating('create', 'engine', create, results),
    ...(reopen && { reopen: run.creating('reopen', 'engine', reopen, results) }),
    ...(processes && { processes: () => startUntilClose(processes, run) }),
  };
}

/** Starts a worker process. The run names the start until the process is ready, and kills the process at its end. */
async function startUntilClose(
  start: NonNullable<EngineHarness['processes']>,
  run: CaseRun,
): Promise<WorkerProcess> {
  const worker = await run.during('harness.processes', start());
  run.onClose(async () => void worker.kill('SIGKILL'));
  const started = new Promise((resolve) => {
    worker.on('message', resolve);
    worker.on('exit', resolve);
  });
  void run.during('the start of a worker process, which must call runWorkerProcess', started);
  return worker;
}
