import { createHash } from 'node:crypto';
import { LUA } from './lua.ts';

/** A script that the server runs as one effect. Its `.lua` file describes its keys, its arguments and its reply. */
export interface RedisScript {
  /** Contains a hash of the text, so that two releases of this package can share one client. */
  readonly name: string;
  readonly lua: string;
  readonly isWrite: boolean;
}

function script(name: keyof typeof LUA, { isWrite }: Pick<RedisScript, 'isWrite'>): RedisScript {
  const lua = LUA[name];
  const sha = createHash('sha1').update(lua).digest('hex');
  return { name: `holdfast:${name}:${sha.slice(0, 12)}`, lua, isWrite };
}

export const PREPARE_PREFIX = script('prepare-prefix', { isWrite: true });
export const READ_INDEX = script('read-index', { isWrite: false });
export const DROP_INDEX_ENTRY = script('drop-index-entry', { isWrite: true });
export const COMPARE_AND_SET = script('compare-and-set', { isWrite: true });
export const WORKERS = script('workers', { isWrite: true });
export const SPEND = script('spend', { isWrite: true });
/** Of channels only, which define them on clients of their own. */
export const PUBLISH_ENTRIES = script('publish-entries', { isWrite: true });
export const NOTIFY_WORKER = script('notify-worker', { isWrite: true });

export const SCRIPTS = [
  PREPARE_PREFIX,
  READ_INDEX,
  DROP_INDEX_ENTRY,
  COMPARE_AND_SET,
  WORKERS,
  SPEND,
] as const;

/** The replies of `COMPARE_AND_SET`. `torn`: a list is shorter than the plan expects. */
export const RESULT = { done: 1, outdated: 0, duplicate: 2, torn: -1 } as const;
