import { openChildStore } from './child-store.ts';

const store = await openChildStore();
await store.enqueue('a', { id: 'victim', content: 'lost' });
await store.close();
