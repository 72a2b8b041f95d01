import { invalidArgument } from '@holdfast/core';
import { mustBe, optionsCheck } from '@holdfast/core/engine';
import {
  Cluster as ClusterClient,
  Redis,
  type Cluster,
  type ClusterNode,
  type ClusterOptions,
  type RedisOptions,
} from 'ioredis';

/** Where the server is: a URL, the options of ioredis (which include Sentinel), or the nodes of a Cluster. */
export type BullmqConnection =
  | { readonly url: string; readonly redis?: RedisOptions }
  | { readonly redis: RedisOptions }
  | { readonly cluster: readonly ClusterNode[]; readonly clusterOptions?: ClusterOptions };

/** The client of the engine, from which BullMQ creates the connections that wait for jobs. */
export type EngineClient = Redis | Cluster;

const FORMS = "{ url: 'redis://localhost:6379' }, { redis: { host, port } } or { cluster: [{ host, port }] }";
const MOVED = 'put it into redis, as in connection: { redis: { host, port } }';

/** The check of the option `connection`, which can have a password. */
export const CONNECTION = mustBe.required(
  mustBe.secret({ expected: `an object such as ${FORMS}`, accepts: mustBe.object.accepts }),
);

/** Accepts the forms of a node that ioredis accepts: an object, a port, or a URL. */
function isNode(value: unknown): boolean {
  return mustBe.object.accepts(value) || ['number', 'string'].includes(typeof value);
}

interface Members {
  readonly url?: string;
  readonly redis?: RedisOptions;
  readonly cluster?: readonly ClusterNode[];
  readonly clusterOptions?: ClusterOptions;
}

const checkMembers = optionsCheck<Members>(
  'connection of BullmqEngine',
  {
    url: mustBe.secret(mustBe.string),
    redis: mustBe.secret(mustBe.object),
    cluster: mustBe.secret(mustBe.listOf('nodes such as { host, port }', isNode)),
    clusterOptions: mustBe.secret(mustBe.object),
  },
  { host: MOVED, port: MOVED, password: MOVED, username: MOVED, db: MOVED, tls: MOVED, sentinels: MOVED },
);

/** The engine sets these: BullMQ needs them. */
const SET_BY_ENGINE = ['maxRetriesPerRequest', 'lazyConnect', 'replyMapping'];

/**
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown or missing member, and for an option of ioredis that the
 * engine sets or that changes its keys.
 */
export function checkConnection(connection: BullmqConnection): void {
  const { url, redis, cluster, clusterOptions }: Members = checkMembers(connection);
  if ([url ?? redis, cluster].filter(Boolean).length !== 1 || (clusterOptions && !cluster))
    throw invalidArgument(`connection of BullmqEngine must be one of ${FORMS}.`, TypeError);
  if (url !== undefined && !/^rediss?:$/i.test(protocolOf(url)))
    throw invalidArgument(`url of connection of BullmqEngine must be a URL such as redis://localhost:6379.`);
  if (cluster?.length === 0)
    throw invalidArgument('cluster of connection of BullmqEngine must have a node, such as { host, port }.');
  if (redis?.sentinels && (redis.sentinels.length === 0 || !redis.name))
    throw invalidArgument(
      'redis of connection of BullmqEngine must name the master of its sentinels: { sentinels: [{ host, port }], name }.',
    );
  const all = [redis, clusterOptions, clusterOptions?.redisOptions];
  const hasKeyPrefix = all.some((options) => options && 'keyPrefix' in options && options.keyPrefix);
  if (hasKeyPrefix || (url !== undefined && new URL(url).searchParams.has('keyPrefix')))
    throw invalidArgument(
      'BullMQ does not work with keyPrefix of ioredis. Set the option "prefix" of the engine instead.',
    );
  for (const options of all) {
    const name = SET_BY_ENGINE.find((option) => options && option in options);
    if (name !== undefined)
      throw invalidArgument(
        `connection of BullmqEngine must not set ${name}: the engine sets it. Remove it.`,
      );
  }
}

/** Returns the protocol of a URL. An error would contain the URL, which can have a password. */
function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

/** Required by BullMQ: a command waits for the server instead of failing. */
const WAITS = { maxRetriesPerRequest: null } as const;
/** Required by the types of ioredis 6. */
const REPLIES = { replyMapping: 'legacy' } as const;

/**
 * Creates the client of an engine, and lets it connect. BullMQ must not connect it: a queue whose first attempt fails stays
 * unusable.
 */
export function connect(connection: BullmqConnection): EngineClient {
  if ('cluster' in connection) {
    const { redisOptions, ...rest } = connection.clusterOptions ?? {};
    const options = { ...rest, redisOptions: { ...redisOptions, ...WAITS, ...REPLIES }, lazyConnect: false };
    return new ClusterClient([...connection.cluster], options);
  }
  const options = { ...connection.redis, ...WAITS, ...REPLIES, lazyConnect: false };
  return 'url' in connection ? new Redis(connection.url, options) : new Redis(options);
}

/** @throws RangeError `ARGUMENT_INVALID` when the keys of one engine could be on different nodes of a Cluster. */
export function checkPrefix(prefix: string, connection: BullmqConnection): void {
  if ('cluster' in connection && !/\{[^{}]+\}/u.test(prefix)) {
    throw invalidArgument(
      `The prefix "${prefix}" has no hash tag, so a Cluster would spread the queue. Put a part in braces: "{${prefix}}".`,
    );
  }
}

/** Creates a client with the same options, which connects with its first command. */
export function duplicateOf(client: EngineClient): EngineClient {
  return client instanceof ClusterClient
    ? client.duplicate([], { lazyConnect: true })
    : client.duplicate({ lazyConnect: true });
}
