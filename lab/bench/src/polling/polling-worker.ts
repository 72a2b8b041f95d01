import type { SessionStore } from '@holdfast/core';
import { PollingEngine } from '@holdfast/core/engine';
import { newRuntime, openPollingPlace, type PollingPlace } from './polling-agent.ts';

/** The calls of a worker's engine since the last report. */
export interface PollingCounts {
  readonly due: number;
  readonly taken: number;
  readonly lost: number;
}

/** A message of a worker: the start of an advance, or the counts that the parent requested. */
export type PollingReport =
  | { readonly type: 'ready' }
  | { readonly type: 'started'; readonly sessionId: string; readonly at: number }
  | { readonly type: 'counts'; readonly counts: PollingCounts };

// The parent wrote the argument.
const place = JSON.parse(process.argv[2] ?? '') as PollingPlace;
const { store, channel } = await openPollingPlace(place);
const counts = { due: 0, taken: 0, lost: 0 };
const engine = new PollingEngine({ store: counted(store), channel });
const runtime = newRuntime(store);
await engine.serve(
  (sessionId, options) => {
    report({ type: 'started', sessionId, at: Date.now() });
    return runtime.advance(sessionId, options);
  },
  { concurrency: 8 },
);
process.on('message', () => {
  report({ type: 'counts', counts: { ...counts } });
  Object.assign(counts, { due: 0, taken: 0, lost: 0 });
});
process.on('disconnect', () => process.exit());
report({ type: 'ready' });

/** Counts what the engine asks of the store. */
function counted(real: SessionStore): SessionStore {
  return new Proxy(real, {
    get(target, name) {
      if (name === 'due') counts.due++;
      if (name === 'takeDue')
        return async (...args: Parameters<SessionStore['takeDue']>) => {
          const isTaken = await target.takeDue(...args);
          counts[isTaken ? 'taken' : 'lost']++;
          return isTaken;
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function report(what: PollingReport): void {
  process.send?.(what);
}
