import { randomUUID } from 'node:crypto';
import { withFact, type CreateStore, type SessionStoreHarness } from '@holdfast/conformance';
import type { AgentSession, SessionStore } from '@holdfast/core';
import { RedisSessionStore, type RedisClient, type RedisStoreOptions } from '@holdfast/store-redis';
import { Cluster, Redis } from 'ioredis';
import { RedisServer } from 'test-servers';
import { afterAll, beforeAll } from 'vitest';

/** Returns a new prefix, so that a test does not read the keys of other tests. */
export function newPrefix(): string {
  return `holdfast-test-${randomUUID()}`;
}

/** Starts a server for the tests of a file, and creates its client. */
export function testServer(): { readonly port: number; readonly client: Redis } {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });
  return {
    get port() {
      return server.port;
    },
    get client() {
      return client;
    },
  };
}

/** Creates stores with a client, each under a new prefix. */
export function harness(client: () => ServerClient, options: RedisStoreOptions = {}): SessionStoreHarness {
  let prefix = '';
  const reopen: CreateStore = async (clock, settings) => {
    const store = new RedisSessionStore({ client: client(), clock, prefix, ...options, ...settings });
    return { store, close: () => store.close() };
  };
  const create: CreateStore = (clock, settings) => {
    prefix = newPrefix();
    return reopen(clock, settings);
  };
  return {
    create,
    reopen,
    remember: () => remember(client(), prefix),
    corrupt: (sessionId, change) => corrupt(client(), prefix, sessionId, change),
    countRows: () => countRows(client(), prefix),
    indexedFilters: ['owner', 'status', 'agentName', 'parentId', 'executionStatus', 'waitingFor'],
    maxValueBytes: options.maxValueBytes ?? MAX_VALUE_BYTES,
    manySessions: EFFORT > 1 ? 10_000 : undefined,
  };
}

/** A higher effort runs the cases of many sessions with more of them. */
const EFFORT = Number(process.env['EFFORT'] ?? 1);
/** The default of the store. */
const MAX_VALUE_BYTES = 8_000_000;

type ServerClient = Redis | Cluster;

/** Copies all keys under a prefix. The returned function restores them. */
async function remember(client: ServerClient, prefix: string): Promise<() => Promise<void>> {
  const dumps = new Map<string, Buffer>();
  for (const key of await keysUnder(client, prefix)) dumps.set(key, await client.dumpBuffer(key));
  return async () => {
    for (const key of await keysUnder(client, prefix)) await client.unlink(key);
    for (const [key, dump] of dumps) await client.restore(key, 0, dump);
  };
}

/** Changes the record in the hash of a session, and keeps its token. */
async function corrupt(
  client: ServerClient,
  prefix: string,
  sessionId: string,
  change: (record: string) => string,
): Promise<void> {
  const keys = await keysUnder(client, prefix);
  const key = keys.find((name) => name.endsWith(`:s:${sessionId}`)) ?? '';
  await client.hset(key, 'r', change((await client.hget(key, 'r')) ?? ''));
}

/** Counts the fields of hashes, the entries of sorted sets, and the other keys under a prefix. */
async function countRows(client: ServerClient, prefix: string): Promise<number> {
  let count = 0;
  for (const key of await keysUnder(client, prefix)) {
    const type = await client.type(key);
    if (type === 'hash') count += await client.hlen(key);
    else count += type === 'zset' ? await client.zcard(key) : 1;
  }
  return count;
}

/** Counts the commands that the server has executed for a store, also those of scripts. */
export async function countCommands(client: Redis): Promise<number> {
  const stats = await client.info('commandstats');
  const calls = [...stats.matchAll(/^cmdstat_(\w+)\S*?:calls=(\d+)/gmu)];
  return calls.reduce(
    (sum, [, name = '', count]) => (HARNESS_COMMANDS.has(name) ? sum : sum + Number(count)),
    0,
  );
}

/** The commands of the harness and of a new connection. */
const HARNESS_COMMANDS: ReadonlySet<string> = new Set([
  'info',
  'scan',
  'type',
  'hlen',
  'zcard',
  'ping',
  'client',
  'hello',
]);

/** The number of times that the harness itself has walked through the keys of a server. */
export const scans = { count: 0 };

async function keysUnder(client: ServerClient, prefix: string): Promise<readonly string[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const keys: string[] = [];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, found] = await node.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 1_000);
      scans.count += 1;
      keys.push(...found);
      cursor = next;
    } while (cursor !== '0');
  }
  return keys;
}

/** Wraps a client: a function is called before each read and each script. */
export function observed(client: Redis, before: (what: string) => Promise<void>): RedisClient {
  const methods: Record<string, unknown> = Object.create(client) as object as Record<string, unknown>;
  methods['defineCommand'] = (name: string, definition: { lua: string }): void => {
    client.defineCommand(name, definition);
    const send = (client as unknown as Record<string, (args: unknown) => unknown>)[`${name}Buffer`];
    methods[`${name}Buffer`] = async (args: unknown): Promise<unknown> => {
      await before(name.split(':')[1] ?? '');
      return send?.call(client, args);
    };
  };
  methods['pipeline'] = (commands: unknown[][]) => ({
    async exec(): Promise<unknown> {
      await before('read');
      return client.pipeline(commands).exec();
    },
  });
  return methods as unknown as RedisClient;
}

/** Saves a session repeatedly, each time with a count that is higher by 1, until it is stopped. */
export class Writer {
  /** The session as the store returned it last. */
  session: AgentSession;
  readonly errors: unknown[] = [];
  private readonly store: SessionStore;
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(store: SessionStore, session: AgentSession) {
    this.store = store;
    this.session = session;
    this.ended = this.write();
  }

  /** Asserts that every acknowledged save is stored once. */
  static isWhole(session: AgentSession | undefined): boolean {
    return session?.state.metadata.get('count') === (session?.version ?? 0) - 1;
  }

  async stop(): Promise<AgentSession> {
    this.isOver = true;
    await this.ended;
    return this.session;
  }

  private async write(): Promise<void> {
    while (!this.isOver && this.errors.length === 0) {
      const base = this.session;
      try {
        this.session = await this.store.save(withFact(base, 'count', base.version), { base });
      } catch (error) {
        this.errors.push(error);
      }
    }
  }
}
