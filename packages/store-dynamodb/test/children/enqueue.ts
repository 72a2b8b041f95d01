import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';

const [endpoint = '', table = ''] = process.argv.slice(2);
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const store = await DynamoDbSessionStore.open({ table, endpoint, region: 'us-east-1', credentials });
await store.enqueue('a', { id: 'victim', content: 'lost' });
await store.close();
