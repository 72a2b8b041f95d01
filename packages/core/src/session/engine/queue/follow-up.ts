import type { Instant } from '../../../clock.ts';
import type { AdvanceResult, Schedule } from '../engine.ts';
import type { FollowUp, LockedSession, WakeUp } from '../wake-up-queue.ts';

/** The clocks of the store and the engine may differ, so the engine waits before it tries a lost session again. */
const LOST_PAUSE_MS = 1_000;

/** Returns what the result of an advance requires. After an error, a sweep wakes the session. */
export function followUpOf(lock: LockedSession, result: AdvanceResult | undefined, now: Instant): FollowUp {
  if (result === undefined) return { wakeUps: [] };
  const { sessionId, schedule } = lock;
  const { outcome, wake, next } = result;
  const own = { sessionId, ...(next ? scheduleOf(next) : schedule) };
  const at = instantOf(result, now);
  const wakeUps: WakeUp[] = at === undefined ? [] : [{ ...own, at }];
  for (const other of wake) wakeUps.push({ ...(other === sessionId ? own : { sessionId: other }), at: now });
  return outcome.type === 'throttled' ? { wakeUps, pause: outcome } : { wakeUps };
}

/** Returns the instant of the session's next wake-up. */
function instantOf({ outcome }: AdvanceResult, now: Instant): Instant | undefined {
  if (outcome.type === 'yield') return now;
  if (!('until' in outcome) || outcome.until === undefined) return undefined;
  return outcome.type === 'lost' ? Math.max(outcome.until, now + LOST_PAUSE_MS) : outcome.until;
}

function scheduleOf({ lane, priority, group }: Schedule): Omit<WakeUp, 'sessionId' | 'at'> {
  return { lane, priority, group, isRouted: true };
}
