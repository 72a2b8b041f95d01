import { BullmqEngine, type BullmqEngineOptions } from '@holdfast/runner-bullmq';
import { describe, expect, test } from 'vitest';

const connection = { url: 'redis://127.0.0.1:1' };

describe('options that the engine refuses', () => {
  test.each<readonly [string, object, string]>([
    ['no connection', {}, 'connection'],
    [
      'a name with a colon',
      { connection, name: 'my:agents' },
      'The name "my:agents" has a colon, which BullMQ does not allow.',
    ],
    ['an unknown option', { connection, concurrency: 5 }, 'pass it to serve'],
    [
      'a lane without a whole number',
      { connection, lanes: { openai: { concurrency: 0.5 } } },
      'lane "openai"',
    ],
    [
      'a rate without a period',
      { connection, lanes: { openai: { rate: { max: 5 } } } },
      'the rate of lane "openai"',
    ],
    [
      'a prefix that a Cluster spreads',
      { connection: { cluster: [{ host: '127.0.0.1', port: 1 }] }, prefix: 'agents' },
      'The prefix "agents" has no hash tag, so a Cluster would spread the queue. Put a part in braces: "{agents}".',
    ],
    [
      'a key prefix of ioredis',
      { connection: { redis: { keyPrefix: 'x' } } },
      'BullMQ does not work with keyPrefix of ioredis. Set the option "prefix" of the engine instead.',
    ],
    [
      'a host beside the options of ioredis',
      { connection: { host: 'localhost', port: 6379 } },
      'connection of BullmqEngine has no option "host": put it into redis, as in connection: { redis: { host, port } }.',
    ],
    [
      'two servers',
      { connection: { ...connection, cluster: [] } },
      "connection of BullmqEngine must be one of { url: 'redis://localhost:6379' }",
    ],
    ['no server', { connection: {} }, 'connection of BullmqEngine must be one of'],
    [
      'an option that BullMQ needs otherwise',
      { connection: { redis: { maxRetriesPerRequest: 3 } } },
      'connection of BullmqEngine must not set maxRetriesPerRequest: the engine sets it. Remove it.',
    ],
    [
      'a URL of another protocol',
      { connection: { url: 'http://localhost' } },
      'url of connection of BullmqEngine must be a URL such as redis://localhost:6379.',
    ],
    ['a Cluster without nodes', { connection: { cluster: [] } }, 'must have a node'],
    ['a node that is no node', { connection: { cluster: [null] } }, 'an array of nodes'],
    [
      'sentinels without the name of their master',
      { connection: { redis: { sentinels: [{ host: 'a', port: 1 }] } } },
      'must name the master of its sentinels',
    ],
    [
      'a key prefix in the URL',
      { connection: { url: 'redis://localhost/0?keyPrefix=x' } },
      'BullMQ does not work with keyPrefix of ioredis.',
    ],
    ['telemetry that is no adapter', { connection, telemetry: {} }, 'an adapter such as new BullMQOtel'],
    [
      'too many lanes',
      { connection, lanes: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`lane ${n}`, {}])) },
      'The lane "lane 100" is one too many: an engine has at most 100 lanes.',
    ],
  ])('%s', (_, options, message) => {
    const error = thrownBy(() => new BullmqEngine(options as BullmqEngineOptions));
    expect(error).toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect((error as Error).message).toContain(message);
  });

  test.each(['redis://:secret@localhost:99999999', 'secret'])('an error does not show the URL %s', (url) => {
    const error = thrownBy(() => new BullmqEngine({ connection: { url } })) as Error;
    expect(JSON.stringify([error, error.message, error.cause])).not.toContain('secret');
    expect(error).toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  test('messages do not show the connection, which can hold a password', () => {
    const error = thrownBy(() => new BullmqEngine({ connection: 'redis://:secret@host' } as never));
    expect((error as Error).message).not.toContain('secret');
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
