// A worker with a channel, which ends when it is stopped.
import { workUntilStopped } from '@holdfast/conformance/test';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';

const [, , url = '', sessionId = ''] = process.argv;
const store = await RedisSessionStore.open({ url });
const channel = await RedisSessionChannel.open({ url });
await workUntilStopped(sessionId, { store, channel });
await channel.close();
await store.close();
