import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';

const [endpoint = '', table = ''] = process.argv.slice(2);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const store = await DynamoDbSessionStore.open({ table, endpoint, region: 'us-east-1', credentials });
const base = await store.load('victim');
if (base) await store.save(base.withState(base.state.withUserMessage('Lost')), { base });
await store.close();
