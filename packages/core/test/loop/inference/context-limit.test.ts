import { describe, expect, test } from 'vitest';
import { fasterGrowth, repeated } from '../../../../../tools/config/vitest.growth.ts';
import { limitIn } from '../../../src/loop/inference/context-limit.ts';

describe('the limit that an error names', () => {
  test.each([
    [
      "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (126000 in the messages, 4000 in the completion).",
      128_000,
    ],
    ["This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072],
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
      200_000,
    ],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    [
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      32_768,
    ],
    ['the request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it', 8_192],
    ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens', 4_096],
    ['Your input exceeds the context window of this model: the limit is 1,047,576 tokens.', 1_047_576],
    ['The model "gpt-5-mini" of openai failed (HTTP 400): Input is too long for requested model.', undefined],
    ['The maximum is unknown. Status 400.', undefined],
    ['Requested tokens (9285) exceed context window of 8192', 8_192],
    ['`inputs` must have less than 4096 tokens. Given: 5168', 4_096],
    ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]', 983_616],
    ['Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)', 262_144],
    ['prompt token count of 70123 exceeds the limit of 64000', 64_000],
    ['too many tokens: total number cannot exceed 4081', 4_081],
    [
      'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
      32_768,
    ],
    ['Input length 15810 exceeds context length 15000', 15_000],
    ['invalid params, context window exceeds limit (2013)', undefined],
    ['Prompt exceeds maximum context length', undefined],
    ['', undefined],
  ])('%s', (message, limit) => expect(limitIn(message)).toBe(limit));

  test('is found in linear time', async () => {
    const pumps = ['1', '1,', ',', '> ', '1 tokens ', 'maximum', 'limit '].map((piece) => repeated(piece));
    expect(await fasterGrowth(limitIn, pumps)).toEqual([]);
  });
});
