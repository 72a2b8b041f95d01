import { openChildStore } from './child-store.ts';

const store = await openChildStore();
const base = await store.load('victim');
if (base) await store.save(base.withState(base.state.withUserMessage('Lost')), { base });
await store.close();
