// A worker with a polling engine, under the orders of an engine case.
import { runWorkerProcess } from '@holdfast/conformance';
import { Redis } from 'ioredis';
import { openPolling } from '../support/polling.ts';

const [, , port = '', prefix = ''] = process.argv;
const client = new Redis(Number(port));
const { engine } = openPolling(client, prefix);
// One case starts two workers in a process. An engine serves once at a time, so each worker has its own.
runWorkerProcess({
  wake: (sessionId, options) => engine.wake(sessionId, options),
  serve: (advance, options) => openPolling(client, prefix).engine.serve(advance, options),
});
