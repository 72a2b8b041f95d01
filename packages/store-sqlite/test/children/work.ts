// A worker with a channel, which ends when it is stopped.
import { join } from 'node:path';
import { workUntilStopped } from '@holdfast/conformance/test';
import { SqliteSessionChannel, SqliteSessionStore } from '@holdfast/store-sqlite';

const [, , folder = '', sessionId = ''] = process.argv;
const store = await SqliteSessionStore.open({ path: join(folder, 'sessions.db') });
const channel = await SqliteSessionChannel.open({ path: join(folder, 'channel.db') });
await workUntilStopped(sessionId, { store, channel });
await channel.close();
await store.close();
