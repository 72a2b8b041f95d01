import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const core = fileURLToPath(new URL('..', import.meta.url));
const ENTRIES = ['index', 'store', 'driver', 'engine', 'spending', 'channel', 'testing'];

/** The names that an entry exports: all, or those of values. */
async function namesOf(entry: string, kind: 'all' | 'values' = 'all'): Promise<string[]> {
  const text = await readFile(`${core}/src/${entry}.ts`, 'utf8');
  const exports = kind === 'all' ? /export (?:type )?\{([^}]*)\}/g : /export \{([^}]*)\}/g;
  return [...text.matchAll(exports)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => name.trim() || []),
  );
}

test('the root has at most 80 values', async () => {
  expect((await namesOf('index', 'values')).length).toBeLessThanOrEqual(80);
});

test('one entry exports each name, and several entries export the argument checks, which all adapters need', async () => {
  const names = (await Promise.all(ENTRIES.map((entry) => namesOf(entry)))).flat();
  const checks = ['checkArgument', 'mustBe', 'optionsCheck', 'ArgumentCheck', 'OptionChecks', 'OptionsCheck'];
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  expect(repeated.toSorted()).toEqual([...checks, ...checks].toSorted());
});

test('an entry exports every type in a public signature', async () => {
  const exported = new Set((await Promise.all(ENTRIES.map((entry) => namesOf(entry)))).flat());
  const reports = (await readdir(`${core}/etc`)).filter((file) => file.endsWith('.api.md'));
  expect(reports).toHaveLength(ENTRIES.length);
  const forgotten = await Promise.all(
    reports.map(async (report) => {
      const text = await readFile(`${core}/etc/${report}`, 'utf8');
      const symbols = [...text.matchAll(/\(ae-forgotten-export\) The symbol "(\w+?)(?:_\d+)?"/g)];
      return symbols.map(([, symbol = '']) => symbol).filter((symbol) => !exported.has(symbol));
    }),
  );
  expect(new Set(forgotten.flat())).toEqual(new Set());
});

test('no folder of core has more than 15 files, and no file more than 400 lines', async () => {
  const files = await readdir(`${core}/src`, { recursive: true, withFileTypes: true });
  const perFolder = new Map<string, number>();
  const long: string[] = [];
  for (const file of files) {
    if (!file.isFile()) continue;
    perFolder.set(file.parentPath, (perFolder.get(file.parentPath) ?? 0) + 1);
    const lines = (await readFile(`${file.parentPath}/${file.name}`, 'utf8')).split('\n').length - 1;
    if (lines > 400) long.push(`${file.name}: ${lines}`);
  }
  expect([...perFolder].filter(([, count]) => count > 15)).toEqual([]);
  expect(long).toEqual([]);
});
