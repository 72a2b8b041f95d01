import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstRequests, requestsFolder, storedStates } from '../../golden/first-requests.ts';

const states = await storedStates();

test.each([...states])('the first request of %s is its golden file', async (name, state) => {
  const golden: unknown = JSON.parse(await readFile(join(requestsFolder, `${name}.json`), 'utf8'));
  const json: unknown = JSON.parse(JSON.stringify(await firstRequests(state)));
  expect(json).toEqual(golden);
});

test('each stored state and session has a golden file', async () => {
  const files = (await readdir(requestsFolder)).map((file) => file.replace('.json', ''));
  expect(files.toSorted()).toEqual([...states.keys()].toSorted());
});
