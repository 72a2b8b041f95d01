import type { Schedule } from '../engine.ts';

const MAX_SESSIONS = 10_000;

/** The last known schedules of the sessions that this process has seen last. */
export class KnownSchedules {
  private readonly schedules = new Map<string, Schedule>();

  /** Remembers a schedule. An empty one does not replace another. */
  add(sessionId: string, { lane, priority, group }: Schedule): void {
    if (lane === undefined && priority === undefined && group === undefined) return;
    this.schedules.delete(sessionId);
    this.schedules.set(sessionId, { lane, priority, group });
    if (this.schedules.size <= MAX_SESSIONS) return;
    const [oldest] = this.schedules.keys();
    this.schedules.delete(oldest as string);
  }

  get(sessionId: string): Schedule {
    return this.schedules.get(sessionId) ?? {};
  }
}
