import { DynamoDbServer, RedisServer } from 'test-servers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChatClient, textIn } from './support/chat-client.ts';
import { dataFolder, run, serve } from './support/playground-process.ts';

const closers: (() => Promise<unknown>)[] = [];
const environment: Record<string, string> = {};

beforeAll(async () => {
  const [redis, database] = [await RedisServer.start(), await DynamoDbServer.start()];
  closers.push(
    () => redis.stop(),
    () => database.stop(),
  );
  environment['REDIS_URL'] = redis.url();
  environment['DYNAMODB_ENDPOINT'] = database.endpoint;
});

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});

test.each(['redis', 'dynamodb'])('a session in %s is gone on with by another process', async (store) => {
  const common = ['--data', await dataFolder(), '--store', store];
  const first = await run([...common, '--prompt', 'pay 250 to Ann'], environment);
  expect(first.stdout).toContain('approv');
  const sessionId = /^session (\S+)$/m.exec(first.stdout)?.[1] ?? '';
  const second = await run([...common, '--session', sessionId, '--approve'], environment);
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toContain('Paid to Ann: 250 euros');
});

test.each(['redis', 'dynamodb'])('a chat in %s is served live', async (store) => {
  const args = ['--data', await dataFolder(), '--store', store, '--port', '0'];
  const client = new ChatClient((await serve(args, environment)).url);
  expect(textIn(await client.ask(`chat in ${store}`, 'what is 2 + 2?'))).toContain('2 + 2 = 4');
  const view = await client.viewWhere(encodeURIComponent(`chat in ${store}`), ({ isRunning }) => !isRunning);
  expect(view).toMatchObject({ executionStatus: 'completed', title: 'what is 2 + 2?' });
});
