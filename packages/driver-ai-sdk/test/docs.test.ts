import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { APICallError } from '@ai-sdk/provider';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { quietly, rejection, request } from './builders.ts';

const path = fileURLToPath(new URL('../../../docs/errors.md', import.meta.url));
const errors = readFileSync(path, 'utf8');

function httpError(statusCode: number, message: string): APICallError {
  return new APICallError({ message, url: 'https://api.openai.com', requestBodyValues: {}, statusCode });
}

const FAILURES: Readonly<Record<string, unknown>> = {
  DRIVER_RATE_LIMITED: httpError(429, 'Rate limit reached for requests per minute.'),
  DRIVER_OVERLOADED: httpError(503, 'The server is overloaded.'),
  DRIVER_NETWORK: Object.assign(new Error('Cannot connect to the API.'), { code: 'ECONNREFUSED' }),
  DRIVER_TIMEOUT: httpError(504, 'Gateway timeout.'),
  DRIVER_AUTHENTICATION: httpError(401, 'Incorrect API key provided.'),
  DRIVER_QUOTA_EXCEEDED: httpError(429, 'You exceeded your current quota.'),
  DRIVER_MODEL_NOT_FOUND: httpError(404, 'The model does not exist.'),
  DRIVER_CONTEXT_TOO_LONG: httpError(400, 'The maximum context length is 128000 tokens.'),
  DRIVER_CONTENT_FILTERED: httpError(400, 'The prompt was refused by the content filter.'),
  DRIVER_INVALID_REQUEST: httpError(400, 'Unknown parameter "style".'),
  DRIVER_FAILED: new TypeError('fields is not iterable'),
};

/** `vitest --update` writes changed messages to the page. */
test('docs/errors.md shows the messages as the driver writes them', async () => {
  const shown = [...errors.matchAll(/^### `(DRIVER_\w+)`$/gm)].map(([, code]) => code);
  // The loop itself finds empty and broken answers.
  const ofLoop = ['DRIVER_EMPTY_ANSWER', 'DRIVER_BROKEN_ANSWER'];
  expect(new Set(shown)).toEqual(new Set([...Object.keys(FAILURES), ...ofLoop]));
  let expected = errors;
  for (const [code, failure] of Object.entries(FAILURES)) {
    const error = await errorOfCall(failure);
    expect(error.code).toBe(code);
    const example = new RegExp(`(\n### \`${code}\`\n.*?\n\`\`\`text\n).*?\n(?=\`\`\`\n)`, 's');
    expected = expected.replace(example, (_, start: string) => `${start}${error.message}\n`);
  }
  await expect(expected).toMatchFileSnapshot(path);
});

async function errorOfCall(failure: unknown): Promise<{ readonly code: string; readonly message: string }> {
  const model = new MockLanguageModelV4({
    provider: 'openai.responses',
    modelId: 'gpt-5-mini',
    doGenerate: () => Promise.reject(failure),
  });
  const driver = aiSdkDriver({ model, maxRetries: 0 });
  return (await rejection(driver.infer(request([]), quietly()))) as never;
}
