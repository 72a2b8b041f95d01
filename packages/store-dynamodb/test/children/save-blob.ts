import { FileBlobs } from '../support/file-blobs.ts';
import { openChildStore } from './child-store.ts';

const [, , folder = ''] = process.argv.slice(2);
const store = await openChildStore({ blobs: { store: new FileBlobs(folder), minBytes: 2_000 } });
const base = await store.load('victim');
if (base) await store.save(base.withState(base.state.withUserMessage('Lost '.repeat(1_000))), { base });
await store.close();
