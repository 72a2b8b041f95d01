import { isDeepStrictEqual } from 'node:util';
import type { AgentSession } from '@holdfast/core';

const TIMES = new Set([
  'at',
  'createdAt',
  'updatedAt',
  'startedAt',
  'completedAt',
  'workedSeconds',
  'requestedAt',
]);
const OF_ATTEMPTS = new Set(['attempt']);
/** The traces of an outage: a process that dies before its save has no trace of the call that was refused. */
const OF_OUTAGE = new Set(['version', 'inferenceFailures', 'fallback', 'request', 'modelId', 'cost']);
/** The members that may differ in a call in doubt: its outcome, and its result for the model. */
const OF_DOUBT = new Set(['outcome', 'approval', 'output']);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A session in a form that is equal for each run of the same work: without times, attempts and the outcomes of calls in
 * doubt. Ids are numbered in the order of their appearance.
 */
export function canonical({ sessionId, state, status }: AgentSession, inDoubt: ReadonlySet<string>): unknown {
  const ids = new Map<string, string>();
  const numbered = (text: string): string => {
    if (!UUID.test(text)) return text.replaceAll(sessionId, 'this session');
    const known = ids.get(text) ?? `id ${ids.size + 1}`;
    ids.set(text, known);
    return known;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return numbered(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(walk);
    const isInDoubt = isOf(value, inDoubt);
    const members = Object.entries(value).filter(
      ([name]) =>
        !TIMES.has(name) &&
        !OF_ATTEMPTS.has(name) &&
        !OF_OUTAGE.has(name) &&
        !(isInDoubt && OF_DOUBT.has(name)),
    );
    return Object.fromEntries(members.map(([name, member]) => [numbered(name), walk(member)]));
  };
  return walk({ status, state: JSON.parse(JSON.stringify(state)) });
}

/** True for one of these calls, or for its result. */
function isOf(value: object, calls: ReadonlySet<string>): boolean {
  const { toolCallId, call } = value as {
    readonly toolCallId?: string;
    readonly call?: { readonly toolCallId?: string };
  };
  return calls.has(toolCallId ?? call?.toolCallId ?? '');
}

/** The first place in which two documents differ. */
export function difference(found: unknown, wanted: unknown, path = ''): string {
  if (typeof found === 'object' && typeof wanted === 'object' && found !== null && wanted !== null) {
    for (const name of new Set([...Object.keys(found), ...Object.keys(wanted)])) {
      const pair = [found, wanted].map((each) => (each as Record<string, unknown>)[name]) as [
        unknown,
        unknown,
      ];
      if (!isDeepStrictEqual(...pair)) return difference(...pair, `${path}/${name}`);
    }
  }
  return `${path} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`;
}
