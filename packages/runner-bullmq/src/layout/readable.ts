import type { Instant } from '@holdfast/core';
import type { WakeUp } from '@holdfast/core/engine';

/** The members that a text of the queue lacks, because its key has them. */
interface KnownMembers {
  readonly sessionId?: string;
  readonly at?: Instant;
}

/** Returns the value of a text of the queue; `undefined` for a text that is no JSON. Another program may have changed the key. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the wake-up of a text of the queue; `undefined` for a text that has none. */
export function wakeUpOf(text: string, known: KnownMembers = {}): WakeUp | undefined {
  const value = readJson(text);
  const wakeUp: unknown = typeof value === 'object' && value !== null ? { ...value, ...known } : undefined;
  return isWakeUp(wakeUp) ? wakeUp : undefined;
}

/** Returns the wake-ups of texts of the queue, without those that cannot be read: a sweep wakes their sessions. */
export function wakeUpsOf(texts: readonly string[]): readonly WakeUp[] {
  return texts.map((text) => wakeUpOf(text)).filter((wakeUp) => wakeUp !== undefined);
}

/** Returns the id of the session of a text that may be damaged. */
export function sessionIdOf(text: string): string | undefined {
  const { sessionId } = Object(readJson(text)) as Readonly<Record<string, unknown>>;
  return typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
}

export function isWakeUp(value: unknown): value is WakeUp {
  const { sessionId, at, lane, priority, group } = Object(value) as Readonly<Record<string, unknown>>;
  return (
    typeof sessionId === 'string' &&
    sessionId !== '' &&
    typeof at === 'number' &&
    (lane === undefined || typeof lane === 'string') &&
    (group === undefined || typeof group === 'string') &&
    (priority === undefined || typeof priority === 'number')
  );
}
