import { afterAll, beforeAll } from 'vitest';

/** The rejections that nobody handles during the tests of a file, in a list that grows. */
export function unhandledRejections(): readonly unknown[] {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  return unhandled;
}
