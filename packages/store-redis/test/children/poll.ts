// A worker with a polling engine, under the orders of an engine case.
import { runWorkerProcess } from '@holdfast/conformance';
import { openPolling } from '../support/polling.ts';

const [, , url = '', prefix = ''] = process.argv;
const { engine } = await openPolling({ url, prefix });
// One case starts two workers in a process. An engine serves once at a time, so each worker has its own.
runWorkerProcess({
  wake: (sessionId, options) => engine.wake(sessionId, options),
  serve: async (advance, options) => (await openPolling({ url, prefix })).engine.serve(advance, options),
});
