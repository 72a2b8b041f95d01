import { DatabaseSync } from 'node:sqlite';
import { channelTests, type CreateChannel } from '@holdfast/conformance';
import { SqliteSessionChannel } from '@holdfast/store-sqlite';
import { describe } from 'vitest';
import { testCases } from '@holdfast/conformance/vitest';
import { temporaryFolders } from '../temporary-folders.ts';

const { newFile } = temporaryFolders();
let path = '';

const reopen: CreateChannel = async () => {
  const channel = await SqliteSessionChannel.open({ path, pollSeconds: 0.004 });
  return { channel, close: () => channel.close() };
};
const create: CreateChannel = () => {
  path = newFile();
  return reopen();
};
const drop = async (): Promise<void> => {
  const database = new DatabaseSync(path);
  database.exec('DELETE FROM log; DELETE FROM tails');
  database.close();
};

describe('SqliteSessionChannel', () => {
  testCases(channelTests({ create, reopen, drop, tail: true, turnMilliseconds: 5 }));
});
