import type { SessionStore, SessionDirectory } from '@holdfast/core';
import type { SessionChannel } from '@holdfast/core/channel';
import { InputError } from './input-error.ts';
import { withPackages } from './optional-package.ts';

/** A store that the command opened, and closes. */
export type OpenStore = SessionStore & SessionDirectory;
/** A channel that the command opened, and closes. */
export type OpenChannel = SessionChannel & { close(): Promise<void> };

interface Kind {
  readonly openStore: (url: string) => Promise<OpenStore>;
  readonly openChannel: (url: string) => Promise<OpenChannel>;
}

const SQLITE = ['@holdfast/store-sqlite'];
const REDIS = ['@holdfast/store-redis', 'ioredis'];
const DYNAMODB = ['@holdfast/store-dynamodb', '@aws-sdk/client-dynamodb'];

const sqlite: Kind = {
  openStore: (url) =>
    withPackages('sqlite:', SQLITE, async () =>
      (await import('@holdfast/store-sqlite')).SqliteSessionStore.open({ path: pathOf(url) }),
    ),
  openChannel: (url) =>
    withPackages('sqlite:', SQLITE, async () =>
      (await import('@holdfast/store-sqlite')).SqliteSessionChannel.open({ path: pathOf(url) }),
    ),
};
const redis: Kind = {
  openStore: (url) =>
    withPackages('redis:', REDIS, async () =>
      (await import('@holdfast/store-redis')).RedisSessionStore.open({ url }),
    ),
  openChannel: (url) =>
    withPackages('redis:', REDIS, async () =>
      (await import('@holdfast/store-redis')).RedisSessionChannel.open({ url }),
    ),
};
const dynamodb: Kind = {
  openStore: (url) =>
    withPackages('dynamodb:', DYNAMODB, async () =>
      (await import('@holdfast/store-dynamodb')).DynamoDbSessionStore.open(tableOf(url)),
    ),
  openChannel: (url) =>
    withPackages('dynamodb:', DYNAMODB, async () =>
      (await import('@holdfast/store-dynamodb')).DynamoDbSessionChannel.open(tableOf(url)),
    ),
};
const KINDS = new Map<string, Kind>([
  ['sqlite', sqlite],
  ['redis', redis],
  ['rediss', redis],
  ['dynamodb', dynamodb],
]);

/** Opens the store of a URL. @throws InputError for an unknown URL or a missing package; what the store throws. */
export function openStore(url: string): Promise<OpenStore> {
  return kindOf('store', url).openStore(url);
}

/** Opens the channel of a URL. @throws as `openStore`. */
export function openChannel(url: string): Promise<OpenChannel> {
  return kindOf('channel', url).openChannel(url);
}

/** Error messages do not show the rest of the URL, which may contain a password. */
function kindOf(option: string, url: string): Kind {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  const kind = KINDS.get(scheme ?? '');
  if (kind) return kind;
  const found = scheme === undefined ? 'no scheme' : `"${scheme}:"`;
  throw new InputError(
    `--${option} must begin with sqlite:, redis://, rediss:// or dynamodb://; found ${found}.`,
  );
}

function pathOf(url: string): string {
  const path = url.replace(/^sqlite:(?:\/\/(?=\/))?/i, '');
  if (path !== '') return path;
  throw new InputError('sqlite: needs the path of a file, as in sqlite:./sessions.db.');
}

function tableOf(url: string): { table: string; region?: string; endpoint?: string } {
  const [, table = '', query = ''] = /^dynamodb:\/\/([^/?]+)\/?(?:\?(.*))?$/i.exec(url) ?? [];
  const known = new URLSearchParams(query);
  const unknown = [...known.keys()].find((name) => name !== 'region' && name !== 'endpoint');
  if (table === '' || unknown !== undefined)
    throw new InputError(
      `dynamodb:// needs a table, and knows region and endpoint, as in dynamodb://sessions?region=eu-west-1${unknown === undefined ? '' : `; found "${unknown}"`}.`,
    );
  const [region, endpoint] = [known.get('region'), known.get('endpoint')];
  return { table, ...(region !== null && { region }), ...(endpoint !== null && { endpoint }) };
}
