// A worker with a channel, which ends when it is stopped.
import { workUntilStopped } from '@holdfast/conformance/test';
import { openChildChannel, openChildStore } from './child-store.ts';

const [, , , , sessionId = ''] = process.argv;
const store = await openChildStore();
const channel = await openChildChannel();
await workUntilStopped(sessionId, { store, channel });
await channel.close();
await store.close();
