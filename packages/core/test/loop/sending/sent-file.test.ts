import type { FilePart } from '@holdfast/core';
import { expect, test } from 'vitest';
import { sentFile } from '../../../src/loop/sending/sent-file.ts';

const PNG = 'iVBORw0KGgo=';

function file(mediaType: string, data: FilePart['data'], filename?: string): FilePart {
  return { type: 'file', mediaType, data, ...(filename !== undefined && { filename }) };
}

test.each<[string, FilePart]>([
  ['a type that the provider takes', file('image/png', { type: 'data', data: PNG })],
  ['a picture with another name', file('image/svg+xml', { type: 'data', data: PNG })],
  ['a URL', file('image/png', { type: 'url', url: 'https://files.example/a.png' })],
])('%s is sent as it is', (_, part) => {
  expect(sentFile(part, /^image\/png$/)).toBe(part);
});

test('a data URL becomes data with its type', () => {
  const part = file('image/jpeg', { type: 'url', url: `data:image/png;base64,${PNG}` });
  expect(sentFile(part, /^image\/png$/)).toEqual(file('image/png', { type: 'data', data: PNG }));
});

test.each<[FilePart, string]>([
  [
    file('application/zip', { type: 'data', data: 'UEs=' }, 'a.zip'),
    '[The file a.zip cannot be shown to this model.]',
  ],
  [file('image/png', { type: 'data', data: 'AAAA' }), '[The file image/png cannot be read.]'],
  [file('image/png', { type: 'url', url: 'data:image/png,%%%' }), '[The file image/png cannot be read.]'],
  [file('text/plain', { type: 'text', text: ' ' }), '[The file text/plain:]\n(empty)'],
  [file('text/csv', { type: 'data', data: 'YTtiCg==' }, 'a.csv'), '[The file a.csv:]\na;b\n'],
])('a text takes the place of %j', (part, text) => {
  expect(sentFile(part, /^image\/png$/)).toEqual({ type: 'text', text });
});

test('without types, all that can be read is sent', () => {
  const part = file('image/png', { type: 'data', data: 'AAAA' });
  expect(sentFile(part, undefined)).toBe(part);
});
