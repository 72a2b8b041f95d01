import { afterAll } from 'vitest';

const cleanups: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

/** Calls a function after the test file. The last registered function is called first. */
export function onEnd(clean: () => Promise<unknown>): void {
  cleanups.push(clean);
}
