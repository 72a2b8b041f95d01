import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '@holdfast/core/engine';
import { ERROR_EXAMPLES } from './support/error-examples.ts';

const path = fileURLToPath(new URL('../../../docs/errors.md', import.meta.url));
const errors = readFileSync(path, 'utf8');
/** The sections of the codes of core; those of other packages follow under headings of their own. */
const sections = (errors.split('\n## `@holdfast/')[0] ?? '').split('\n### ').slice(1);
const codes = sections.map((section) => /^`(\w+)`\n/.exec(section)?.[1] ?? section);
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g;

test('docs/errors.md explains every error code of core once, and no other code', () => {
  expect(codes.toSorted()).toEqual(ERROR_CODES.toSorted());
});

test.each(codes)('docs/errors.md has a description, an example, advice and a link for %s', (code) => {
  const section = sections[codes.indexOf(code)];
  expect(section).toMatch(
    /^`\w+`\n\n(?!```|\*\*)\S.*?\n\n```text\n.+?\n```\n\n\*\*What to do:\*\* .*\]\([^)]+\.md(?:#[\w-]+)?\)/s,
  );
});

test('each code has an example here, or in the tests of the AI SDK driver', () => {
  const ofDrivers = ERROR_CODES.filter((code) => code.startsWith('DRIVER_') && !(code in ERROR_EXAMPLES));
  expect([...Object.keys(ERROR_EXAMPLES), ...ofDrivers].toSorted()).toEqual(ERROR_CODES.toSorted());
});

/** `vitest --update` writes changed messages to the page. */
test('docs/errors.md shows the messages as core writes them', async () => {
  let expected = errors;
  for (const [code, provoke] of Object.entries(ERROR_EXAMPLES)) {
    const error = await provoke();
    expect(error?.code).toBe(code);
    const message = error?.message.replaceAll(UUID, '…');
    expected = expected.replace(exampleOf(code), (_, start: string) => `${start}${message}\n`);
  }
  await expect(expected).toMatchFileSnapshot(path);
});

function exampleOf(code: string): RegExp {
  return new RegExp(`(\n### \`${code}\`\n.*?\n\`\`\`text\n).*?\n(?=\`\`\`\n)`, 's');
}
