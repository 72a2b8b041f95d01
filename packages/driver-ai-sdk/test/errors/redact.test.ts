import { describe, expect, test } from 'vitest';
import { KEY_FORMS } from '../../src/errors/key-forms.ts';
import { redact } from '../../src/errors/redact.ts';
import { KEYS, partOf, PLAIN_KEYS, UNLABELLED, WORDINGS } from './keys.ts';

/** The redacted texts in which a part of the key is left. */
function leaks(secret: string, texts: readonly string[]): readonly string[] {
  return texts.map((text) => redact(text, [])).filter((shown) => partOf(secret, shown) !== undefined);
}

describe('a key in any wording', () => {
  test.each(Object.entries(KEYS))('%s', (_, key) => {
    const secret = key.replaceAll(/^(?:-----[^-]*-----|[a-z]{2,6}[-_])|-----END.*$/g, '');
    const texts = [...WORDINGS, ...UNLABELLED].map((wording) => wording(key));
    expect(leaks(secret, texts)).toEqual([]);
    expect(texts.filter((text) => !redact(text, []).includes('[redacted]'))).toEqual([]);
  });

  test.each(PLAIN_KEYS)('without a form: %s', (key) => {
    const texts = WORDINGS.map((wording) => wording(key));
    expect(leaks(key, texts)).toEqual([]);
  });

  test('each row of the table has a key here, a source and a date', () => {
    const keys = Object.values(KEYS);
    expect(KEY_FORMS.filter(({ form }) => !keys.some((key) => key.search(form) === 0))).toEqual([]);
    expect(KEY_FORMS.filter(({ source }) => !URL.canParse(source))).toEqual([]);
    expect(KEY_FORMS.filter(({ checked }) => Number.isNaN(Date.parse(checked)))).toEqual([]);
  });

  test('in a place where the limit cuts it', () => {
    const key = KEYS['OpenAI, project'] ?? '';
    const fillers = ['[redacted] ', 'sk-a1234567 ', 'a1'].map((filler) => filler.repeat(2_100));
    const lengths = Array.from({ length: 60 }, (_, index) => 3_870 + 3 * index);
    const texts = fillers.flatMap((filler) => lengths.map((length) => `${filler.slice(0, length)} ${key}`));
    expect(leaks(key.slice(8), texts)).toEqual([]);
  });
});

describe('what people read stays', () => {
  const kept = [
    'risk-free key-values, sk-ipping, task-1234567890, bearer tokens, basic authentication, HTTP 404',
    'max_tokens: 5000 is more than the 4096 tokens of the model',
    'Unexpected token } in JSON at position 3',
    'Please include the request ID req_0123456789abcdef0123456789abcdef in your message.',
    'Item with id rs_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b not found.',
    'No tool output found for function call call_9vQXsPKt6dJtAb5GpT1oZx4N.',
    'message msg_01XFDUDYJgAACzvnptvVoYEL of chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
    'request 4e1ad1a5-6f3c-4b0e-9d8e-0a1b2c3d4e5f failed',
    'The model accounts/fireworks/models/Llama-v3p1-405b-instruct-Long-Context-2 has no capacity.',
    'models/gemini-2.5-flash-preview-05-20 is not found for API version v1beta',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'messages.12.content.3.tool_result.content: Input should be a valid list',
    'Invalid schema for function "get_weather": additionalProperties is required',
    'see https://platform.example.com/docs/guides/error-codes/api-errors',
    "Import 'hf_transfer', then use xai-grok-4-fast and organization org-AbCd1234efGH",
    'Antwort: 提示词太长了，请缩短后重试。',
  ];
  test.each(kept)('%s', (text) => expect(redact(text, [])).toBe(text));
});

describe('the rest of the text stays', () => {
  const table: [string, string][] = [
    [
      'Incorrect API key provided: sk-1234********cdef. Go on.',
      'Incorrect API key provided: [redacted]. Go on.',
    ],
    ['Authorization: Bearer abc.def. Wrong', 'Authorization: Bearer [redacted]. Wrong'],
    ['The token: abc.defgh. Wrong', 'The token: [redacted]. Wrong'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [redacted]'],
    ['{"authorization":"Basic YWJjOmRlZg=="}', '{"authorization":"Basic [redacted]"}'],
    ['the bearer abc1234 is bad', 'the bearer [redacted] is bad'],
    ['key AIzaSyA1234567890abcdefghijklmnop bad', 'key [redacted] bad'],
    ['{"api_key":"abcdefgh"}', '{"api_key":"[redacted]"}'],
    ['Option 1 - API key:\nCreate an API key: my-key', 'Option 1 - API key:\nCreate an API key: [redacted]'],
    ['see https://a.example/b?token=abc&x=1 now', 'see https://a.example/b?[redacted] now'],
    ['see https://me:pw@a.example/b', 'see https://[redacted]@a.example/b'],
    ['see redis://:p@ss@10.0.0.1:6379/0 now', 'see redis://[redacted]@10.0.0.1:6379/0 now'],
    ['GET /v1beta/models?key=abcdef&alt=sse failed', 'GET /v1beta/models?key=[redacted]&alt=sse failed'],
    ['https://a.example/v1/0123456789abcdef0123456789abcdef/x', 'https://a.example/v1/[redacted]/x'],
    ['my own-value here', 'my [redacted] here'],
    ['of Bearer team42 and team42', 'of [redacted] and [redacted]'],
  ];
  test.each(table)('%s', (text, expected) => {
    expect(redact(text, ['own-value', 'he', 'Bearer team42'])).toBe(expected);
  });

  test('up to a limit', () => {
    expect(redact('word '.repeat(5000), [])).toHaveLength(601);
    expect(redact(`Invalid value: '${'a'.repeat(5000)}'`, [])).toBe("Invalid value: '…");
  });
});
