import type { SessionStore } from '@holdfast/core';

/** Does a write, or lets it wait. */
export type AroundWrite = <Result>(write: () => Promise<Result>) => Promise<Result>;

/** A store whose writes all go through the given function. */
export function withWrites(store: SessionStore, around: AroundWrite): SessionStore {
  return {
    capabilities: store.capabilities,
    load: (...args) => store.load(...args),
    exists: (...args) => store.exists(...args),
    inspect: (...args) => store.inspect(...args),
    executions: (...args) => store.executions(...args),
    revisions: (...args) => store.revisions(...args),
    loadRevision: (...args) => store.loadRevision(...args),
    workers: () => store.workers(),
    list: (...args) => store.list(...args),
    due: (...args) => store.due(...args),
    create: (...args) => around(() => store.create(...args)),
    save: (...args) => around(() => store.save(...args)),
    claim: (...args) => around(() => store.claim(...args)),
    renew: (...args) => around(() => store.renew(...args)),
    release: (...args) => around(() => store.release(...args)),
    enqueue: (...args) => around(() => store.enqueue(...args)),
    removeItem: (...args) => around(() => store.removeItem(...args)),
    announce: (...args) => around(() => store.announce(...args)),
    recordFailure: (...args) => around(() => store.recordFailure(...args)),
    takeDue: (...args) => around(() => store.takeDue(...args)),
    delete: (...args) => around(() => store.delete(...args)),
    prune: (...args) => store.prune(...args),
    close: () => store.close(),
  };
}

/** Begins a write when the one before has ended. */
export function oneByOne(): AroundWrite {
  let last: Promise<unknown> = Promise.resolve();
  return (write) => {
    const done = last.then(write, write);
    last = done;
    return done;
  };
}
