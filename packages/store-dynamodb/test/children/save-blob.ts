import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import { FileBlobs } from '../support/file-blobs.ts';

const [endpoint = '', table = '', folder = ''] = process.argv.slice(2);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const blobs = { store: new FileBlobs(folder), minBytes: 2_000 };
const store = await DynamoDbSessionStore.open({ table, endpoint, region: 'us-east-1', credentials, blobs });
const base = await store.load('victim');
if (base) await store.save(base.withState(base.state.withUserMessage('Lost '.repeat(1_000))), { base });
await store.close();
