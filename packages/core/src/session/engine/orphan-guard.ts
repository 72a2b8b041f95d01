/** How often in milliseconds the guard looks whether the parent lives. */
const LOOK_PAUSE = 250;

/**
 * A thread that kills its process some time after the parent has died. It has an event loop of its own, so it also ends a
 * process whose code blocks. On Windows a process keeps the id of its dead parent, so the guard also looks for the parent.
 */
const THREAD = `
const { parent, milliseconds, lookPause } = require('node:worker_threads').workerData;
function isOrphan() {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
const looking = setInterval(() => {
  if (!isOrphan()) return;
  clearInterval(looking);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), milliseconds);
}, lookPause);
`;

/** Starts the thread, in the process itself: its own threads and processes inherit the flags, and have another parent. */
const PRELOAD = `
import { isMainThread, Worker } from 'node:worker_threads';
const { thread, ...workerData } = DATA;
if (isMainThread) {
  process.execArgv.splice(process.execArgv.indexOf('--import'), 2);
  if (process.ppid !== workerData.parent) process.exit();
  try {
    new Worker(thread, { eval: true, execArgv: [], workerData }).unref();
  } catch (error) {
    process.emitWarning(\`This process does not notice the death of its parent while it blocks: \${error.message}\`);
  }
}
`;

/**
 * Returns flags of Node.js for a process that ends after this one, however this one ends: at the latest so many milliseconds
 * later. The flags come first: the guard starts before the other modules are loaded.
 */
export function orphanGuard(milliseconds: number): readonly string[] {
  const data = { thread: THREAD, parent: process.pid, milliseconds, lookPause: LOOK_PAUSE };
  const preload = PRELOAD.replace('DATA', () => JSON.stringify(data));
  return ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
}
