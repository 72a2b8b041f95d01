import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tool, ToolContext } from '@holdfast/core';
import { toolContext } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { calculator } from '../src/tools/calculator.ts';
import { clockTool } from '../src/tools/clock.ts';
import { notebookRead, notebookWrite } from '../src/tools/notebook.ts';
import { sendParcel } from '../src/tools/parcel.ts';
import { pay } from '../src/tools/payment.ts';
import { dataFolder } from './support/playground-process.ts';

const idempotencyKey = '11111111-2222-4333-8444-555555555555';

/** What a tool returns for arguments, or the problem with them. */
async function call(
  tool: Tool,
  input: { readonly [name: string]: string | number },
  changes: Partial<ToolContext> = {},
) {
  const checked = await tool.validate(input);
  return 'problem' in checked
    ? checked
    : tool.execute(checked.value, toolContext({ idempotencyKey, ...changes }));
}

test('the calculator', async () => {
  expect(await call(calculator, { expression: '17 * 23' })).toEqual({ expression: '17 * 23', value: 391 });
  await expect(call(calculator, { expression: '1 / 0' })).rejects.toThrow('1 / 0');
});

test('the clock', async () => {
  const clock = clockTool({ now: () => 0, newId: () => '' });
  expect(await call(clock, { timeZone: 'Asia/Tokyo' })).toEqual({
    iso: '1970-01-01T00:00:00.000Z',
    text: 'Thursday, 1 January 1970 at 09:00',
    timeZone: 'Asia/Tokyo',
  });
  await expect(call(clock, { timeZone: 'Mars/Olympus' })).rejects.toThrow('no time zone “Mars/Olympus”');
});

describe('the notebook', () => {
  test('stores notes as files', async () => {
    const folder = join(await dataFolder(), 'notes');
    expect(await call(notebookRead(folder), {})).toEqual({ notes: [] });
    expect(await call(notebookWrite(folder), { name: 'tea', text: 'Grüner Tee' })).toEqual({
      name: 'tea',
      bytes: 11,
    });
    await call(notebookWrite(folder), { name: 'cat', text: 'Bob' });
    await call(notebookWrite(folder), { name: 'cat', text: 'Eve' });
    expect(await call(notebookRead(folder), { name: 'cat' })).toEqual({
      notes: [{ name: 'cat', text: 'Eve' }],
    });
    expect(await call(notebookRead(folder), { name: 'dog' })).toEqual({ notes: [] });
    const notes = [
      { name: 'cat', text: 'Eve' },
      { name: 'tea', text: 'Grüner Tee' },
    ];
    expect(await call(notebookRead(folder), {})).toEqual({ notes });
    expect(await readdir(folder)).toEqual(['cat.txt', 'tea.txt']);
  });

  test.each(['../secret', 'a/b', '.hidden', '', 'a\0b', 'x'.repeat(81), 'C:\\x'])(
    'takes no name %j',
    async (name) => {
      const data = await dataFolder();
      const problem = { problem: expect.stringContaining('name') };
      expect(await call(notebookWrite(data), { name, text: 'x' })).toEqual(problem);
      expect(await call(notebookRead(data), { name })).toEqual(problem);
    },
  );
});

describe('the payment', () => {
  test('writes one line for each key', async () => {
    const payments = join(await dataFolder(), 'payments.txt');
    const receipt = { receipt: 'B-11111111', to: 'Ann', amount: 250 };
    expect(await call(pay(payments), { to: 'Ann', amount: 250 })).toEqual(receipt);
    expect(await call(pay(payments), { to: 'Ann', amount: 250 }, { attempt: 2 })).toEqual(receipt);
    expect(await readFile(payments, 'utf8')).toBe(`${idempotencyKey}\t250\tto Ann\n`);
  });

  test.each([
    [99.99, false],
    [100, true],
  ])('of %d euros needs approval: %s', (amount, expected) => {
    expect(pay('').needsApproval?.({ to: 'Ann', amount }, toolContext())).toBe(expected);
  });
});

describe('the parcel', () => {
  test('writes one line for each key', async () => {
    const outbox = join(await dataFolder(), 'outbox.txt');
    const parcel = sendParcel({ outbox, seconds: 0.001 });
    const receipt = { receipt: 'P-11111111', to: 'Ann', item: 'a\nbook' };
    expect(await call(parcel, { to: 'Ann', item: 'a\nbook' })).toEqual(receipt);
    expect(await call(parcel, { to: 'Ann', item: 'a\nbook' }, { attempt: 2 })).toEqual(receipt);
    expect(await readFile(outbox, 'utf8')).toBe(`${idempotencyKey}\ta book\tto Ann\n`);
  });

  test('is not sent after an abort', async () => {
    const outbox = join(await dataFolder(), 'outbox.txt');
    const sending = call(
      sendParcel({ outbox, seconds: 60 }),
      { to: 'Ann', item: 'book' },
      { signal: AbortSignal.timeout(5) },
    );
    await expect(sending).rejects.toThrow('abort');
    await expect(readFile(outbox)).rejects.toThrow('ENOENT');
  });
});
