import { createHash, randomBytes } from 'node:crypto';
import type { SavePlan } from '@holdfast/core/store';
import { carriedOut } from '@holdfast/core/store';
import { describe, expect, test } from 'vitest';
import { DICTIONARY } from '../src/dictionary.ts';
import {
  entryName,
  incarnationOf,
  instantKey,
  orderKey,
  partitionOf,
  partKeys,
  ticketKey,
} from '../src/keys.ts';
import { fromPayload, jsonOf, toPayload } from '../src/payload.ts';
import { planJson, planOf, refuseTooLarge, splitPlan, wholePlan } from '../src/plan-entries.ts';

describe('keys', () => {
  test('moments sort as texts, those before 1970 too', () => {
    const { MAX_SAFE_INTEGER: most } = Number;
    const moments = [-most, -1e15, -2, -1, 0, 1, 999, 1e12, 1_798_761_600_000, most];
    const keys = moments.map(instantKey);
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys.map((key) => key.length))).toEqual(new Set([17]));
    for (const key of [Number.POSITIVE_INFINITY, 1e300]) expect(instantKey(key)).toBe(instantKey(most));
  });

  test('ids sort by code point, in ASCII', () => {
    const ids = [
      '',
      '\0',
      ' ',
      'a',
      'a\0',
      'aa',
      'b',
      '~',
      '\u007f',
      '\u0080',
      'é',
      '\ue000',
      '\uffee',
      '🦊',
    ];
    const keys = ids.map((id) => orderKey(0, id));
    expect(keys.toSorted()).toEqual(keys);
    expect(keys.join('')).toMatch(/^[\0-\u007f]*$/u);
  });

  test('no id makes a key too long, and no two ids one partition', () => {
    const ids = ['x'.repeat(1_000), `${'x'.repeat(999)}y`, '\uffee'.repeat(1_000), 'x', 'H#x', 'S#x'];
    for (const id of ids) {
      expect(Buffer.byteLength(partitionOf(id))).toBeLessThanOrEqual(1_024);
      expect(Buffer.byteLength(orderKey(0, id))).toBeLessThanOrEqual(128);
    }
    expect(new Set(ids.map(partitionOf)).size).toBe(ids.length);
  });

  test('the keys of parts say whose they are', () => {
    const incarnation = 'an#odd#one';
    const name = entryName(3, 14, 'id', 2);
    const keys = partKeys(`E#${incarnation}#`, name);
    expect(keys).toEqual(['E#an#odd#one#000003#000014#id#2#0000', 'E#an#odd#one#000003#000014#id#2#0001']);
    expect([...keys, ticketKey(incarnation)].map(incarnationOf)).toEqual(Array(3).fill(incarnation));
  });
});

describe('payloads', () => {
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

  test.each(texts)('%j comes back', async (text) => {
    await expect(fromPayload(await toPayload(text), 'it')).resolves.toBe(text);
  });

  test('long ones are packed', async () => {
    expect((await toPayload('x'.repeat(10_000))).length).toBeLessThan(100);
    expect((await toPayload('x'.repeat(99))).length).toBe(100);
  });

  test('what a text has in common with its context costs next to nothing', async () => {
    const text = randomBytes(300).toString('base64');
    const payload = await toPayload(text, text);
    expect(payload.length).toBeLessThan(20);
    await expect(fromPayload(payload, 'it', text)).resolves.toBe(text);
  });

  test('the dictionary is the one that tables were written with', () => {
    expect(createHash('sha256').update(DICTIONARY).digest('hex')).toBe(
      '3484e1b12e4802205c7360fc2bd66f489b2fcc56d411d506c387bcb37d8a4f3a',
    );
  });

  const broken = [
    undefined,
    Uint8Array.of(),
    Uint8Array.of(7, 1),
    Uint8Array.of(1, 255, 255),
    Uint8Array.of(0, 123),
  ];

  test.each(broken)('%j is none', async (payload) => {
    await expect(jsonOf(payload, 'it')).rejects.toMatchObject({ code: 'STATE_FORMAT', path: 'it' });
  });
});

describe('plans', () => {
  const plan: SavePlan = {
    isWhole: false,
    head: '{"version":2}',
    values: new Map([
      ['definition', '{"name":"a"}'],
      ['systemPrompt', undefined],
    ]),
    lists: [
      { name: 'messages:conversation', keep: 2, append: ['"c"', '"d"'] },
      { name: 'steps', keep: 0, append: [] },
    ],
  };

  test('come back from JSON', () => {
    expect(planOf(JSON.parse(planJson(plan)), 'it')).toEqual(plan);
  });

  test.each([null, [], {}, [true, 'x'], [1, 'x', [], []], 'x'])('%j is none', (json) => {
    expect(() => planOf(json, 'it')).toThrow(expect.objectContaining({ code: 'STATE_FORMAT' }));
  });

  test('one that is small is not split', () => {
    expect(splitPlan(plan)).toEqual([plan]);
  });

  test('those that one is split into do the same one after the other', () => {
    const mega = (name: string): string => JSON.stringify(name + 'x'.repeat(3_000_000));
    const large: SavePlan = {
      isWhole: true,
      head: '{}',
      values: new Map([['definition', mega('d')]]),
      lists: [
        { name: 'a', keep: 0, append: [mega('1'), mega('2'), mega('3'), '"4"'] },
        { name: 'b', keep: 0, append: [] },
        { name: 'c', keep: 0, append: [mega('1') + mega('2') + mega('3'), mega('4')] },
      ],
    };
    const plans = splitPlan(large);
    expect(plans.length).toBeGreaterThan(3);
    expect(plans.map(({ isWhole }) => isWhole)).toEqual(plans.map((_, index) => index === 0));
    for (const each of plans.slice(0, -2)) expect(planJson(each).length).toBeLessThan(8_400_000);
    let saved = carriedOut(
      undefined,
      wholePlan({ head: '', values: new Map([['x', '1']]), lists: new Map() }),
    );
    for (const each of plans) saved = carriedOut(saved, each);
    expect(saved).toEqual(carriedOut(undefined, large));
    expect(carriedOut(undefined, wholePlan(saved))).toEqual(saved);
  });

  test('the largest text is counted in bytes', () => {
    const limit = 64 * 1024 * 1024;
    const of = (text: string): SavePlan => ({ ...plan, values: new Map([['metadata', text]]) });
    expect(() => refuseTooLarge('a', of('x'.repeat(limit)))).not.toThrow();
    const refused = expect.objectContaining({
      code: 'SESSION_TOO_LARGE',
      data: { sessionId: 'a', bytes: limit + 2, limit },
    });
    expect(() => refuseTooLarge('a', of('é'.repeat(limit / 2 + 1)))).toThrow(refused);
  });
});
