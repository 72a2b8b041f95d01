import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '@holdfast/store-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll } from 'vitest';
import { newDynamoDbClient } from '../src/dynamodb.ts';

/** Makes a place for an empty store. The folder is gone when the test is over. */
export type NewLocation = (folder: string) => Promise<string>;

/** A server that runs. */
interface Started {
  readonly newLocation: NewLocation;
  readonly stop: () => Promise<void>;
}

/** A store to test, and how the server that it needs is started. */
export interface TestedStore {
  readonly name: string;
  readonly start: () => Promise<Started>;
  /** One save may take more requests than the same save at another time. */
  readonly hasVaryingWrites?: boolean;
}

export const TESTED_STORES: readonly TestedStore[] = [
  { name: 'sqlite', start: startNothing },
  // A heartbeat sends the same kind of command as a save, so the number of the last one varies with the pace.
  { name: 'redis', start: startRedis, hasVaryingWrites: true },
  { name: 'dynamodb', start: startDynalite, hasVaryingWrites: true },
];

/** Starts the server of a store before the tests of a block, and stops it after them. Returns what makes a place in it. */
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

/** One that keeps nothing on disk: it is not the one that dies. */
async function startRedis(): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-redis-'));
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const text of server.stdout) if (String(text).includes('Ready to accept connections')) break;
  server.stdout.resume();
  return {
    newLocation: async () => `redis://127.0.0.1:${port}#${randomUUID()}`,
    stop: async () => {
      server.kill();
      if (server.exitCode === null) await once(server, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startDynalite(): Promise<Started> {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = newDynamoDbClient(endpoint);
  return {
    newLocation: async () => {
      const table = randomUUID();
      await client.send(new CreateTableCommand(tableDefinition(table)));
      return `${endpoint}#${table}`;
    },
    stop: async () => {
      client.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => void probe.close(resolve));
  return port;
}
