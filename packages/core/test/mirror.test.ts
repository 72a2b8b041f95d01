import { readdir } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const core = fileURLToPath(new URL('..', import.meta.url));
/** Tests of the package as a whole. */
const WHOLE = ['architecture', 'docs', 'entries', 'import', 'mirror', 'misuse', 'options'];
const ACROSS = /^scenarios\//u;

/** The files below a folder that end so, without that end. */
async function filesIn(folder: string, end: string): Promise<string[]> {
  const paths = await readdir(`${core}/${folder}`, { recursive: true });
  return paths
    .filter((path) => path.endsWith(end))
    .map((path) => path.replaceAll(sep, '/').slice(0, -end.length));
}

/** The source that a test file is named after: `a/b` of `a/b.test.ts` and of `a/b.aspect.test.ts`. */
function sourceOf(test: string): string {
  return test.replace(/\.[^./]+$/u, '');
}

test('each test file has the path of its source, or is in a folder for tests of several sources', async () => {
  const sources = new Set(await filesIn('src', '.ts'));
  const tests = await filesIn('test', '.test.ts');
  const strays = tests.filter(
    (path) =>
      !WHOLE.includes(path) && !ACROSS.test(path) && !sources.has(path) && !sources.has(sourceOf(path)),
  );
  expect(strays).toEqual([]);
});
