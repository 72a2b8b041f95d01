import type { Instant } from '@holdfast/core';

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** The instant of an ISO 8601 date and time with its offset from UTC; `undefined` for any other text. */
export function parseInstant(text: string): Instant | undefined {
  const day = DATE_TIME.exec(text)?.[1];
  const instant = Date.parse(text);
  return day === undefined || Number.isNaN(instant) || !isDay(day) ? undefined : instant;
}

/** True for a day of the calendar. This check is necessary because `Date.parse` reads February 30 as March 2. */
function isDay(day: string): boolean {
  const instant = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(day);
}
