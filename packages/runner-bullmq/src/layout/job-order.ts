/** The levels of priority that BullMQ's 21 bits leave room for, beside the turns of groups. */
export const LEVELS = 8;
const HIGHEST = 4;

/**
 * The last ticket of a level. When jobs have waited in a lane without a break for so many turns of a group, the groups take
 * no more turns until no job waits.
 */
export const LAST_TICKET = 2 ** 18 - 1;

/** Returns the level of a priority, 0 for the highest. Priorities above 4 and below -3 count as 4 and -3. */
export function levelOf(priority: number): number {
  return Math.min(Math.max(HIGHEST - Math.round(priority), 0), LEVELS - 1);
}

/** Returns the priority of a BullMQ job, of which lower ones start first: first the level, and then the ticket. */
export function jobPriorityOf(level: number, ticket: number): number {
  return level * (LAST_TICKET + 1) + ticket;
}

export function ticketOf(jobPriority: number): number {
  return jobPriority % (LAST_TICKET + 1);
}

export function levelOfJob(jobPriority: number): number {
  return Math.floor(jobPriority / (LAST_TICKET + 1));
}
