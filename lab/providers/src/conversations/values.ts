import type { JsonValue, FilePart } from '@holdfast/core';
import { PIXEL } from '../scenarios/tools.ts';
import type { Dice } from './dice.ts';

const LONE = '\ud83d';
const LONG = 'a_long_name_'.repeat(12);

/** Texts of users and models. */
const TEXTS = [
  'How is the weather?',
  'Rain.\n',
  '',
  ' ',
  '\n\n',
  '\u00a0',
  `Look ${LONE} here`,
  LONE,
  '\udc00 first',
  'Antwort: größer als 3 €, 日本語, \u0000\u0007',
  '{"type":"tool_use"}',
  ' leading and trailing ',
] as const;

/** Names that models invent, beside those of tools. */
const NAMES = [
  'weather',
  'weather',
  'multi_tool_use.parallel',
  'get weather',
  '1st_tool',
  'tool/größe',
  'functions.weather:0',
  '_private',
  '-dash',
  '$ref',
  LONG.slice(0, 65),
  LONG.slice(0, 129),
  `name${LONE}`,
] as const;

/** Names that tools of an agent have. */
export const TOOL_NAMES = [
  'weather',
  'get_weather',
  'math-add',
  '1st_tool',
  '-dash',
  '_private',
  LONG.slice(0, 64),
] as const;

/** Ids of calls. Many occur again in a conversation, in this or another step. */
const IDS = [
  'call_1',
  'call_1',
  'call00001',
  'functions.weather:0',
  'toolu_01 A',
  'a'.repeat(41),
  'a'.repeat(65),
  `${'a'.repeat(64)}b`,
  'fc_1|call_1',
  '1',
  'ü',
  `id${LONE}`,
] as const;

/** Arguments as a model writes them. */
const OBJECTS = [
  '{"city":"Rome"}',
  '{"city":"Rome"}',
  '{}',
  '{"city":"\\ud83d"}',
  '{"\\udc00":1}',
  '{"big":12345678901234567890}',
  '{"a":{"b":[null,{"c":""}]}}',
  `{"city":"${'x'.repeat(3_000)}"}`,
] as const;

const ARGUMENTS = [
  ...OBJECTS,
  '',
  'null',
  '[]',
  '"text"',
  '5',
  'true',
  '{"city":"Ro',
  '{"city":',
  'not json',
] as const;

const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type /Page>>endobj\n%%EOF').toString('base64');

const FILES: readonly [FilePart, ...FilePart[]] = [
  file('image/png', { type: 'data', data: PIXEL.base64 }),
  file('image/jpeg', { type: 'data', data: PIXEL.base64 }),
  file('image/png', { type: 'data', data: `data:image/png;base64,${PIXEL.base64}` }),
  file('image/png', { type: 'url', url: `data:image/png;base64,${PIXEL.base64}` }),
  file('image/png', { type: 'data', data: PIXEL.base64.replaceAll('+', '-').replaceAll('=', '') }),
  file('image/png', { type: 'data', data: '!!! no base64 !!!' }),
  file('image/png', { type: 'data', data: '' }),
  file('image/png', { type: 'data', data: 'AAAA' }),
  file('image/png', { type: 'url', url: 'no url' }),
  file('image/png', { type: 'url', url: 'data:image/png;base64,%%%' }),
  file('image/png', { type: 'url', url: 'https://files.example/pixel.png' }),
  file('image/png', { type: 'url', url: 'https://files.example/gone.png' }),
  file('image/svg+xml', { type: 'data', data: Buffer.from('<svg/>').toString('base64') }),
  file('application/pdf', { type: 'data', data: PDF }, 'report  (1).pdf'),
  file('application/pdf', { type: 'data', data: PDF }),
  file('text/plain', { type: 'data', data: Buffer.from('Some text.').toString('base64') }, `n${LONE}.txt`),
  file('text/plain', { type: 'text', text: ' ' }),
  file('application/zip', { type: 'data', data: Buffer.from('PK').toString('base64') }, 'all.zip'),
  file('audio/wav', { type: 'data', data: Buffer.from('RIFF').toString('base64') }),
  file('nonsense', { type: 'data', data: PIXEL.base64 }),
];

function file(mediaType: string, data: FilePart['data'], filename?: string): FilePart {
  return { type: 'file', mediaType, data, ...(filename !== undefined && { filename }) };
}

export function oddText(dice: Dice): string {
  return dice.chance(0.4) ? TEXTS[0] : dice.of(TEXTS);
}

export function oddName(dice: Dice, tools: readonly string[]): string {
  const [first, ...others] = tools;
  return first !== undefined && dice.chance(0.6) ? dice.of([first, ...others]) : dice.of(NAMES);
}

export function oddId(dice: Dice): string {
  return dice.chance(0.4) ? `call_${dice.number(100_000, 999_999)}` : dice.of(IDS);
}

/** Arguments of a call; `isObject`: of a provider that parses them. */
export function oddArguments(dice: Dice, isObject: boolean): string {
  return dice.of<string>(isObject ? OBJECTS : ARGUMENTS);
}

export function oddFile(dice: Dice): FilePart {
  return dice.of(FILES);
}

/** A value that a tool returns. */
export function oddValue(dice: Dice): JsonValue {
  return dice.of<JsonValue>([
    'Rain.',
    { city: 'Rome', celsius: 21 },
    '',
    ' ',
    null,
    [],
    {},
    0,
    false,
    [1, 'a', null],
    { text: LONE, [`key${LONE}`]: 1 },
    LONE,
    'x'.repeat(2_000),
  ]);
}
