import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HoldfastError } from '@holdfast/core';
import { Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { expect, onTestFinished, test } from 'vitest';
import { openEngine } from './support/bullmq-harness.ts';

const path = join(import.meta.dirname, '../../../docs/errors.md');

/** `vitest --update` writes a changed message to the page. */
test('docs/errors.md explains the codes of this package, with their messages', async () => {
  const errors = await readFile(path, 'utf8');
  const section = /^## `@holdfast\/runner-bullmq`$[^]*?(?=^## |$(?![^]))/m.exec(errors)?.[0] ?? '';
  const expected = {
    QUEUE_DAMAGED: await damaged(),
    QUEUE_UNAVAILABLE: await unavailable(),
    QUEUE_UNSUITABLE: await unsuitable(),
  };
  expect([...section.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code)).toEqual(Object.keys(expected));
  let shown = section;
  for (const [code, error] of Object.entries(expected)) {
    expect(error.code).toBe(code);
    const example = new RegExp(`(\n### \`${code}\`\n.*?\n\`\`\`text\n).*?\n(?=\`\`\`\n)`, 's');
    shown = shown.replace(example, (_, start: string) => `${start}${error.message}\n`);
  }
  await expect(errors.replace(section, () => shown)).toMatchFileSnapshot(path);
});

async function damaged(): Promise<HoldfastError> {
  const server = await RedisServer.start();
  const redis = new Redis(server.port);
  const reported = Promise.withResolvers<HoldfastError>();
  const onError = (error: Error): void => reported.resolve(error as HoldfastError);
  const { engine, close } = openEngine({ url: server.url() }, { onError });
  onTestFinished(() => close().then(() => (redis.disconnect(), server.stop())));
  await redis.zadd('{holdfast}:agents:prioritized', 1, 'a job without a hash');
  const served = await engine.serve(async () => ({ outcome: { type: 'finished' }, wake: [] }));
  const error = await reported.promise;
  await served.stop();
  return error;
}

async function unavailable(): Promise<HoldfastError> {
  const { engine, close } = openEngine({ url: 'redis://127.0.0.1:1' }, { wakeSeconds: 0.1 });
  onTestFinished(close);
  const error = await engine.wake('session').catch((reason: unknown) => reason as HoldfastError);
  return Object.assign(error as HoldfastError, {
    message: (error as HoldfastError).message.replace('0.1 s', '5 s'),
  });
}

async function unsuitable(): Promise<HoldfastError> {
  const server = await RedisServer.start();
  const redis = new Redis(server.port);
  const { engine, close } = openEngine({ url: server.url() });
  onTestFinished(() => close().then(() => (redis.disconnect(), server.stop())));
  await redis.hset('{holdfast}:agents:holdfast:settings', { layout: '2' });
  return (await engine.check().catch((reason: unknown) => reason)) as HoldfastError;
}
