import { InvalidResponseDataError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { readStream } from '../../src/response/read-stream.ts';

const noFinish = new InvalidResponseDataError({ data: undefined, message: 'No finish reason.' });
const invalid = new InvalidResponseDataError({ data: { choices: 1 }, message: 'Invalid choices.' });

test.each([
  ['no finish reason is the end of the stream', noFinish, { type: 'ended' }],
  ['invalid data is a failure', invalid, { type: 'failed', error: invalid }],
])('an error part for %s', async (_, error, expected) => {
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      controller.enqueue({ type: 'error', error });
      controller.close();
    },
  });
  expect(await readStream(stream, new AbortController().signal, () => undefined)).toEqual(expected);
});

test('the usage after an error is read', async () => {
  const usage = { inputTokens: { total: 120_000 }, outputTokens: { total: 3_000 } };
  const finish = { type: 'finish', finishReason: { unified: 'error', raw: 'failed' }, usage } as never;
  const error = new Error('boom');
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      controller.enqueue({ type: 'error', error });
      controller.enqueue(finish);
      controller.close();
    },
  });
  const end = await readStream(stream, new AbortController().signal, () => undefined);
  expect(end).toEqual({ type: 'failed', error, finish });
});
