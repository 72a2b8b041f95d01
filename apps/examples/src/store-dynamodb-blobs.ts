import { startBucket } from './services/bucket.ts';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { AgentSession } from '@holdfast/core';
import { tableDefinition } from '@holdfast/store-dynamodb';

process.env['AWS_ENDPOINT_URL_S3'] ??= await startBucket();

// #region blobs
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { DynamoDbSessionStore } from '@holdfast/store-dynamodb';
import type { BlobStore } from '@holdfast/store-dynamodb';

const s3 = new S3Client();
const at = (Key: string) => ({ Bucket: 'session-values', Key });
const bucket: BlobStore = {
  put: async (key, bytes) => void (await s3.send(new PutObjectCommand({ ...at(key), Body: bytes }))),
  delete: async (key) => void (await s3.send(new DeleteObjectCommand(at(key)))),
  async get(key) {
    try {
      return await (await s3.send(new GetObjectCommand(at(key)))).Body?.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  },
};

const client = new DynamoDBClient();
const store = new DynamoDbSessionStore({ client, table: 'values', blobs: { store: bucket } });
// #endregion

await client.send(new CreateTableCommand(tableDefinition('values')));
const text = 'A long story. '.repeat(1_000_000);
const session = AgentSession.create({ definition: { name: 'writer' } });
const { sessionId } = await store.create(session.withState(session.state.withUserMessage(text)));
const loaded = await store.load(sessionId);
console.log(JSON.stringify(loaded).length > text.length); // => true
await store.delete(sessionId);
console.log(await store.exists(sessionId)); // => false
