// A worker with a polling engine, under the orders of an engine case.
import { runWorkerProcess } from '@holdfast/conformance';
import { openPolling } from '../polling.ts';

const [, , path = ''] = process.argv;
const { engine } = openPolling(path);
// One case starts two workers in a process. An engine serves once at a time, so each worker has its own.
runWorkerProcess({
  wake: (sessionId, options) => engine.wake(sessionId, options),
  serve: (advance, options) => openPolling(path).engine.serve(advance, options),
});
