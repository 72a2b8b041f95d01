import { AgentSession } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

/** Saves a session in the file of the first argument, and prints the session that a second store loads from it. */
async function saveAndLoad(path: string): Promise<void> {
  const writer = await SqliteSessionStore.open({ path });
  const { sessionId } = await writer.create(AgentSession.create({ definition: { name: 'writer' } }));
  await writer.close();
  const reader = await SqliteSessionStore.open({ path });
  const loaded = await reader.load(sessionId);
  await reader.close();
  process.stdout.write(`${loaded?.agentName} ${loaded?.version}`);
}

// Not awaited: a CommonJS bundle has no top-level await.
void saveAndLoad(process.argv[2] ?? '');
