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
/** What a call in doubt has another of, where a person or nobody knows: its end, and what the model reads of it. */
const OF_DOUBT = new Set(['outcome', 'approval', 'output']);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A session without what another run of the same work has otherwise: times, attempts and what became of calls in doubt
 * are left out, ids are numbered in the order of their appearance.
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

/** Is it a call among these, or its result? */
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
