import type { LanguageModelV4 } from '@ai-sdk/provider';
import { assistantMessage, userMessage, type FilePart, type Message } from '@holdfast/core';
import { toolMessage, type AssistantPart, type FileData, type ToolContentPart } from '@holdfast/core/driver';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import type { SentFile } from '../../src/prompt/convert-message.ts';
import type { FileDownload } from '../../src/download/download.ts';
import { hasFiles, PromptFiles } from '../../src/prompt/prompt-files.ts';

const { signal } = new AbortController();
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';
const pngBytes = new Uint8Array(Buffer.from(png, 'base64'));
const supporting = new MockLanguageModelV4({ supportedUrls: { 'image/*': [/^https:\/\/ok\.example\//] } });

const filePart = (data: FileData, mediaType = 'image/*'): FilePart => ({ type: 'file', mediaType, data });

async function prepared(
  message: Message,
  files = new PromptFiles(async () => ({ data: pngBytes, mediaType: 'image/png' })),
  model: LanguageModelV4 = supporting,
): Promise<SentFile | undefined> {
  const [sent] = (await files.prepare(message, model, signal)).values();
  return sent;
}

describe('a file of a user', () => {
  const table: [string, FilePart, SentFile][] = [
    [
      'base64 keeps its type',
      filePart({ type: 'data', data: 'AAEC' }, 'application/pdf'),
      { data: { type: 'data', data: 'AAEC' }, mediaType: 'application/pdf' },
    ],
    [
      'an image gets the type of its bytes',
      filePart({ type: 'data', data: png }, 'image/jpeg'),
      { data: { type: 'data', data: png }, mediaType: 'image/png' },
    ],
    [
      'a URL that the model can fetch',
      filePart({ type: 'url', url: 'https://ok.example/a.png' }),
      { data: { type: 'url', url: new URL('https://ok.example/a.png') }, mediaType: 'image/*' },
    ],
    [
      'a URL that changes when it is parsed',
      filePart({ type: 'url', url: 'https://OK.example/a.png' }),
      {
        data: {
          type: 'url',
          url: new URL('https://ok.example/a.png'),
          originalUrl: 'https://OK.example/a.png',
        },
        mediaType: 'image/*',
      },
    ],
    [
      'a URL that the model cannot fetch',
      filePart({ type: 'url', url: 'https://other.example/a' }),
      { data: { type: 'data', data: pngBytes }, mediaType: 'image/png' },
    ],
    [
      'a data URL',
      filePart({ type: 'url', url: 'data:application/pdf;base64,AAEC' }, 'application/octet-stream'),
      { data: { type: 'data', data: 'AAEC' }, mediaType: 'application/pdf' },
    ],
    [
      'a data URL in text',
      filePart({ type: 'url', url: 'data:,caf%C3%A9' }, 'text/plain'),
      { data: { type: 'data', data: new TextEncoder().encode('café') }, mediaType: 'text/plain' },
    ],
    [
      'an id at the provider',
      filePart({ type: 'reference', reference: { openai: 'file-1' } }, 'application/pdf'),
      { data: { type: 'reference', reference: { openai: 'file-1' } }, mediaType: 'application/pdf' },
    ],
    [
      'text',
      filePart({ type: 'text', text: 'abc' }, 'text/plain'),
      { data: { type: 'text', text: 'abc' }, mediaType: 'text/plain' },
    ],
  ];
  test.each(table)('%s', async (_, part, expected) => {
    const message = userMessage([part]);
    expect(hasFiles(message)).toBe(true);
    expect(await prepared(message)).toStrictEqual(expected);
  });
});

test('a file in the output of a tool and a reasoning file are prepared', async () => {
  const file = filePart({ type: 'url', url: 'https://other.example/a' });
  const text: ToolContentPart = { type: 'text', text: 'abc' };
  const output = { type: 'content', value: [text, file] } as const;
  const result = { type: 'tool-result', toolCallId: '1', toolName: 'look', output } as const;
  const reasoning: AssistantPart = { ...file, type: 'reasoning-file' };
  const sent = { data: { type: 'data', data: pngBytes }, mediaType: 'image/png' };
  for (const message of [toolMessage([result]), assistantMessage([result]), assistantMessage([reasoning])]) {
    expect(hasFiles(message)).toBe(true);
    expect(await prepared(message)).toStrictEqual(sent);
  }
});

test('messages without files need no preparation', () => {
  const result: AssistantPart = {
    type: 'tool-result',
    toolCallId: '1',
    toolName: 'a',
    output: { type: 'text', value: '' },
  };
  const messages = [userMessage('a'), assistantMessage('a'), toolMessage([result])];
  expect(messages.some(hasFiles)).toBe(false);
});

describe('downloads', () => {
  test('happen once for each file, for all models', async () => {
    const downloads: FileDownload[] = [];
    const files = new PromptFiles(async (file) => (downloads.push(file), { data: pngBytes }), 1000);
    const message = userMessage([filePart({ type: 'url', url: 'https://other.example/a' })]);
    await prepared(message, files);
    await prepared(message, files, new MockLanguageModelV4());
    expect(downloads).toStrictEqual([{ url: new URL('https://other.example/a'), maxBytes: 1000, signal }]);
  });

  test('that fail are repeated by the next call', async () => {
    let count = 0;
    const files = new PromptFiles(async () => {
      if (count++ === 0) throw new Error('offline');
      return { data: pngBytes };
    });
    const message = userMessage([filePart({ type: 'url', url: 'https://other.example/a' })]);
    await expect(prepared(message, files)).rejects.toThrow('offline');
    expect(await prepared(message, files)).toMatchObject({ mediaType: 'image/png' });
  });

  test('by default reach only public addresses', async () => {
    for (const url of ['http://127.0.0.1/a', 'http://169.254.169.254/latest', 'file:///etc/passwd']) {
      const message = userMessage([filePart({ type: 'url', url })]);
      await expect(prepared(message, new PromptFiles())).rejects.toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    }
  });

  test('of an invalid URL are refused, and the error does not contain the URL', async () => {
    await expect(prepared(userMessage([filePart({ type: 'url', url: 'not a url' })]))).rejects.toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});
