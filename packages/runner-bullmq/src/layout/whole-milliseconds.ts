/** Converts seconds to whole milliseconds, at least 1: Redis accepts no fraction. */
export function wholeMilliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000));
}
