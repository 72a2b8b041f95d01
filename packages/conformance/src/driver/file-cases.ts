import assert from 'node:assert/strict';
import { assistantMessage, userMessage, type FilePart } from '@holdfast/core';
import { toolMessage } from '@holdfast/core/driver';
import { unheard, type UngroupedDriverCase } from './driver-case.ts';
import { ADD, requestOf, sentBy } from './driver-calls.ts';
import type { ProviderRequest, SentFile } from './provider.ts';

/** The beginnings of small files, in base64. A driver may read the media type from them. */
const BYTES: Readonly<Record<string, string>> = {
  'image/png':
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'image/jpeg': '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////',
  'image/gif': 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'application/pdf': 'JVBERi0xLjQKMSAwIG9iago8PD4+CmVuZG9iagp0cmFpbGVyPDw+Pgo=',
};
const FALLBACK = 'SGVsbG8h';

const bytesOf = (mediaType: string): string => BYTES[mediaType] ?? FALLBACK;

function fileOf(mediaType: string): FilePart {
  return { type: 'file', mediaType, data: { type: 'data', data: bytesOf(mediaType) } };
}

function filesIn({ content }: ProviderRequest): readonly SentFile[] {
  return content.flatMap((part) => {
    if (part.type !== 'file') return [];
    const { type: _, ...file } = part;
    return [file];
  });
}

/** Requirements on files and images. */
export const fileCases: readonly UngroupedDriverCase[] = [
  unheard('files are sent with their media types and bytes', ['files'], async (context) => {
    for (const mediaType of context.abilities.files ?? []) {
      const sent = await sentBy(context, requestOf([userMessage([fileOf(mediaType)])]));
      assert.deepEqual(filesIn(sent), [{ mediaType, data: bytesOf(mediaType) }]);
    }
  }),
  unheard('texts and files of a message are sent in order', ['files'], async (context) => {
    const [mediaType = ''] = context.abilities.files ?? [];
    const message = userMessage([
      { type: 'text', text: 'Compare this' },
      fileOf(mediaType),
      { type: 'text', text: 'with this:' },
      fileOf(mediaType),
    ]);
    const sent = await sentBy(context, requestOf([message]));
    assert.deepEqual(
      sent.content.map((part) => (part.type === 'text' ? part.text : part.type)),
      ['Compare this', 'file', 'with this:', 'file'],
    );
  }),
  unheard('a file of an earlier message is sent again', ['files'], async (context) => {
    const [mediaType = ''] = context.abilities.files ?? [];
    const messages = [
      userMessage([{ type: 'text', text: 'What is it?' }, fileOf(mediaType)]),
      assistantMessage('A fox.'),
      userMessage('Are you sure?'),
    ];
    const sent = await sentBy(context, requestOf(messages));
    assert.deepEqual(filesIn(sent), [{ mediaType, data: bytesOf(mediaType) }]);
  }),
  unheard('the URL of an image is sent', ['fileUrls'], async (context) => {
    const url = 'https://example.com/fox.png';
    const image: FilePart = { type: 'file', mediaType: 'image/png', data: { type: 'url', url } };
    const sent = await sentBy(context, requestOf([userMessage([image])]));
    assert.deepEqual(
      filesIn(sent).map((file) => file.url),
      [url],
    );
  }),
  unheard('an image in a tool result is sent', ['resultFiles'], async (context) => {
    const image = fileOf('image/png');
    const output = { type: 'content', value: [{ type: 'text', text: 'A chart:' }, image] } as const;
    const messages = [
      userMessage('chart'),
      assistantMessage([{ type: 'tool-call', toolCallId: 'call_1', toolName: 'add', input: {} }]),
      toolMessage([{ type: 'tool-result', toolCallId: 'call_1', toolName: 'add', output }]),
    ];
    const { content } = await sentBy(context, requestOf(messages, { tools: [ADD] }));
    const [result] = content.filter((part) => part.type === 'result');
    assert.match(result?.text ?? '', /A chart:/);
    assert.deepEqual(result?.files, [{ mediaType: 'image/png', data: bytesOf('image/png') }]);
  }),
];
