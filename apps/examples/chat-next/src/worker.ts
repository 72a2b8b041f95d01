import { InProcessEngine } from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import { runtime, store } from './server.ts';

const engine = new InProcessEngine();
await engine.serve((id, options) => runtime.advance(id, options));
/** Finds the chats that a request has changed, and those of dead workers. */
setInterval(() => void sweep(store, engine, { againAfterSeconds: 1 }).catch(console.error), 100);
