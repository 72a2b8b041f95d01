import { DatabaseSync } from 'node:sqlite';
import { firstRed, plantedDefects } from '@holdfast/conformance/test';
import type { CreateStore } from '@holdfast/conformance';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { expect, test } from 'vitest';
import { rememberFile } from './database-file.ts';
import { temporaryFolders } from './temporary-folders.ts';
import { Wire } from './wire.ts';

const { newFile } = temporaryFolders();
const wire = new Wire();
let path = '';

const reopen: CreateStore = async (clock, settings) => {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  const store = new SqliteSessionStore({ database: wire.to(database), clock, ...settings });
  return { store, close: async () => database.close() };
};
const create: CreateStore = (clock, settings) => {
  path = newFile();
  return reopen(clock, settings);
};

const remember = () => rememberFile(path, newFile());

test.for(plantedDefects({ create, reopen, remember, measure: wire.measure, faults: wire }))(
  'the cases find a store on SQLite that $name',
  async (defect) => {
    await expect(firstRed(defect)).resolves.toBeDefined();
  },
);
