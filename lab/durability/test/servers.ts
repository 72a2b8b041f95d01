import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@holdfast/store-dynamodb';
import { DynamoDbServer, RedisServer } from 'test-servers';
import { afterAll, beforeAll } from 'vitest';
import { newDynamoDbClient } from '../src/dynamodb.ts';

/** Returns the location of an empty store. The test removes the folder at its end. */
export type NewLocation = (folder: string) => Promise<string>;

/** A running server. */
interface Started {
  readonly newLocation: NewLocation;
  readonly stop: () => Promise<void>;
}

/** A store to test, and how the server that it needs is started. */
export interface TestedStore {
  readonly name: string;
  readonly start: () => Promise<Started>;
  /** True when the number of requests of a save varies. */
  readonly hasVaryingWrites?: boolean;
}

export const TESTED_STORES: readonly TestedStore[] = [
  { name: 'sqlite', start: startNothing },
  // A heartbeat sends the same kind of command as a save, so the number of the last one varies with the pace.
  { name: 'redis', start: startRedis, hasVaryingWrites: true },
  { name: 'dynamodb', start: startDynalite, hasVaryingWrites: true },
];

/** Starts the server of a store before the tests of a block, and stops it after them. Returns the function for new locations. */
export function serverOfBlock({ start }: TestedStore): NewLocation {
  let server: Started | undefined;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());
  return async (folder) => {
    if (server === undefined) throw new Error('The server of the store has not started.');
    return server.newLocation(folder);
  };
}

async function startNothing(): Promise<Started> {
  return {
    newLocation: async (folder) => join(folder, 'sessions.db'),
    stop: async () => undefined,
  };
}

async function startRedis(): Promise<Started> {
  const server = await RedisServer.start();
  return {
    newLocation: async () => `redis://127.0.0.1:${server.port}#${randomUUID()}`,
    stop: () => server.stop(),
  };
}

async function startDynalite(): Promise<Started> {
  const server = await DynamoDbServer.start();
  const { endpoint } = server;
  const client = newDynamoDbClient(endpoint);
  return {
    newLocation: async () => {
      const table = randomUUID();
      await client.send(new CreateTableCommand(tableDefinition(table)));
      return `${endpoint}#${table}`;
    },
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}
