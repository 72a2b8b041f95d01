import { AgentSession } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

const store = await SqliteSessionStore.open({ path: 'data/sessions.db' });
const session = await store.create(AgentSession.create({ definition: { name: 'writer' } }));
const next = session.withState(session.state.withUserMessage('Hello'));
const saved = await store.save(next, { base: session });
const { sessions } = await store.list({ agentName: 'writer' });
console.log(
  saved.version,
  sessions.map(({ agentName }) => agentName),
); // => 2 [ 'writer' ]
await store.close();
