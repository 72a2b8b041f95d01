import type { Page } from '../../src/pages.ts';
import { startBucket } from './bucket.ts';
import { startDynamoDb } from './dynamodb.ts';
import { startProvider } from './provider.ts';
import { startRedis } from './redis.ts';
import type { Service } from './service.ts';

/** The services that a page needs beside the provider, by a word in its programs. */
const SERVICES: readonly (readonly [word: RegExp, start: () => Promise<Service>])[] = [
  [/dynamodb/, startDynamoDb],
  [/redis/, startRedis],
  [/client-s3/, startBucket],
];

/** Starts the services that a page needs, empty. */
export async function startServices({ blocks }: Page): Promise<Service> {
  const text = blocks.map((block) => block.text).join('\n');
  const needed = SERVICES.filter(([word]) => word.test(text));
  const services = await Promise.all(
    [startProvider, ...needed.map(([, start]) => start)].map((start) => start()),
  );
  return {
    env: Object.assign({}, ...services.map(({ env }) => env)),
    close: async () => void (await Promise.all(services.map((service) => service.close()))),
  };
}
