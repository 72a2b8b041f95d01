// Adds 1 to the count of session "counter", in competition with other processes. The second argument is the number of
// additions.
import { hasErrorCode, type AgentSession, type SessionStore } from '@holdfast/core';
import { newSession, withFact } from '@holdfast/conformance';
import { openChildStore, say } from './child-store.ts';

/** The session, which the first process creates. */
async function counter(store: SessionStore): Promise<AgentSession> {
  const session = await store.load('counter');
  return session ?? store.create(newSession('counter'));
}

async function countOne(store: SessionStore): Promise<boolean> {
  try {
    const base = await counter(store);
    const count = base.state.metadata.get<number>('count') ?? 0;
    await store.save(withFact(base, 'count', count + 1), { base });
    return true;
  } catch (error) {
    if (!hasErrorCode(error, 'SESSION_CONFLICT')) throw error;
    return false;
  }
}

say('ready');
await new Promise((begin) => process.stdin.once('data', begin));
process.stdin.destroy();
const store = await openChildStore();
let conflicts = 0;
for (let done = 0; done < Number(process.argv[3]);) {
  if (await countOne(store)) done++;
  else conflicts++;
}
await store.close();
say(`conflicts ${conflicts}`);
