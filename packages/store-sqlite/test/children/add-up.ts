// Writers of one process add 1 to the count of session "counter" through a runtime. The arguments are the number of
// writers and the number of additions of each.
import { hasErrorCode, SessionRuntime } from '@holdfast/core';
import { withFact } from '@holdfast/conformance';
import { openChildStore, say } from './child-store.ts';

const [writers, increments] = process.argv.slice(3).map(Number);
const store = await openChildStore();
const runtime = new SessionRuntime({ store, agents: {} });
let conflicts = 0;

async function addOne(): Promise<boolean> {
  try {
    await runtime.execute('counter', (session) => {
      const count = session.state.metadata.get<number>('count') ?? 0;
      return withFact(session, 'count', count + 1);
    });
    return true;
  } catch (error) {
    // Another writer was first, or works on the session: the caller retries.
    if (!hasErrorCode(error, 'SESSION_CONFLICT') && !hasErrorCode(error, 'SESSION_BUSY')) throw error;
    conflicts++;
    return false;
  }
}

async function addUp(): Promise<void> {
  for (let done = 0; done < Number(increments);) if (await addOne()) done++;
}

say('ready');
await new Promise((begin) => process.stdin.once('data', begin));
process.stdin.destroy();
await Promise.all(Array.from({ length: Number(writers) }, addUp));
await store.close();
say(`conflicts ${conflicts}`);
