import { openChildStore } from './child-store.ts';

const store = await openChildStore();
await store.prune();
await store.close();
