import { runWorkerProcess } from '@holdfast/conformance';
import { openQueue } from './sqlite-queue.ts';

const [path = '', defect = ''] = process.argv.slice(2);
const open = defect === '' ? openQueue : (await import('./broken-queues.ts')).brokenQueues[defect];
if (open === undefined) throw new Error(`Unknown defect "${defect}".`);
runWorkerProcess(open(path).engine);
