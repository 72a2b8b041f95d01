import { readFileSync } from 'node:fs';

declare module 'vitest' {
  interface TaskMeta {
    /** The processor time of a test file: that of the worker and of its children that have ended; seconds. */
    seconds?: number;
  }
}

const TICKS_PER_SECOND = 100;

/** Whether the processor time of child processes is counted too: Linux tells it. */
export const countsChildren = process.platform === 'linux';

/** The processor time of this process until now; seconds. */
export function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The processor time of this process until now, and of its children that have ended; seconds. */
export function processorSeconds(): number {
  if (!countsChildren) return ownSeconds();
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in parentheses, can contain spaces: fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}
