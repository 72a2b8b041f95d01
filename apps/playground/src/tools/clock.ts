import { systemClock, tool, type Clock, type Tool } from '@holdfast/core';
import { z } from 'zod';

/** Tells the time, here or in a time zone. */
export function clockTool(clock: Clock = systemClock): Tool {
  return tool({
    name: 'clock',
    description:
      'Tells the present date and time, in a time zone if one is named, else where this machine is.',
    inputSchema: z.object({
      timeZone: z.string().min(1).optional().describe('An IANA name, for example Europe/Vienna'),
    }),
    effect: 'readOnly',
    execute: ({ timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone }) => {
      const now = new Date(clock.now());
      return { iso: now.toISOString(), text: timeIn(timeZone, now), timeZone };
    },
  });
}

function timeIn(timeZone: string, now: Date): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' }).format(now);
  } catch (cause) {
    const advice = 'Use an IANA name like “Europe/Vienna”.';
    throw new RangeError(`There is no time zone “${timeZone}”. ${advice}`, { cause });
  }
}
