import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { DICTIONARY } from '../../src/table/dictionary.ts';
import { fromPayload, jsonFromPayload, toPayload } from '../../src/table/payload.ts';

const texts = [
  '',
  'a',
  '\ufeffa',
  '\0',
  '🦊é',
  'x'.repeat(999),
  'x'.repeat(1_000),
  '{"a":"\\ud800"}',
  'é'.repeat(9_999),
];

test.each(texts)('the text %j is equal after a round trip', async (text) => {
  await expect(fromPayload(await toPayload(text), 'it')).resolves.toBe(text);
});

test('long texts are deflated', async () => {
  expect((await toPayload('x'.repeat(10_000))).length).toBeLessThan(100);
  expect((await toPayload('x'.repeat(99))).length).toBe(100);
});

test('text that also occurs in the context takes almost no bytes', async () => {
  const text = randomBytes(300).toString('base64');
  const payload = await toPayload(text, text);
  expect(payload.length).toBeLessThan(20);
  await expect(fromPayload(payload, 'it', text)).resolves.toBe(text);
});

test('the dictionary is the one that stored payloads need', () => {
  expect(createHash('sha256').update(DICTIONARY).digest('hex')).toBe(
    '089e123b826576bdc24ebb68fd654ac1ec0ef53108271895cbec91fdf7fc0527',
  );
});

const broken = [
  undefined,
  Uint8Array.of(),
  Uint8Array.of(7, 1),
  Uint8Array.of(1, 255, 255),
  Uint8Array.of(0, 123),
];

test.each(broken)('the bytes %j are not a payload', async (payload) => {
  await expect(jsonFromPayload(payload, 'it')).rejects.toMatchObject({ code: 'STATE_FORMAT', path: 'it' });
});
