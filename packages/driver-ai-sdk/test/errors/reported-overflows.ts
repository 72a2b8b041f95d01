import { anthropic, google, openAi, type Row } from './reported-bodies.ts';

/** The messages of providers for a request that is longer than the window of the model. */
export const REPORTED_OVERFLOWS: readonly Row[] = [
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      },
    },
    'contextTooLong',
    'oobabooga/textgen#7257',
  ],
  [
    'llama.cpp',
    500,
    {
      error: {
        code: 500,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    },
    'contextTooLong',
    'ggml-org/llama.cpp#15780',
  ],
  [
    'llama.cpp',
    400,
    openAi('the request exceeds the available context size, try increasing it'),
    'contextTooLong',
    'continuedev/continue#9797',
  ],
  [
    'llama-cpp-python',
    500,
    openAi('Requested tokens (2285) exceed context window of 2048'),
    'contextTooLong',
    'fedora-copr/logdetective-website#193',
  ],
  [
    'TGI',
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1887 `inputs` tokens and 1024 `max_new_tokens`',
      error_type: 'validation',
    },
    'contextTooLong',
    'opea-project/GenAIInfra#487',
  ],
  [
    'TGI',
    422,
    { error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1168' },
    'contextTooLong',
    'huggingface/text-generation-inference#695',
  ],
  [
    'Moonshot',
    400,
    {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)',
        type: 'invalid_request_error',
      },
    },
    'contextTooLong',
    'MoonshotAI/kimi-cli#2011',
  ],
  [
    'Moonshot',
    400,
    {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 8192 (requested: 13628)',
        type: 'invalid_request_error',
      },
    },
    'contextTooLong',
    '666ghj/MiroFish#240',
  ],
  [
    'Alibaba',
    400,
    openAi(
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]',
      'invalid_parameter_error',
    ),
    'contextTooLong',
    'agentscope-ai/QwenPaw#6255',
  ],
  [
    'Alibaba',
    400,
    { code: 'InvalidParameter', message: 'Range of input length should be [1, 6000]', request_id: 'x' },
    'contextTooLong',
    'LLM-Red-Team/qwen-free-api#23',
  ],
  [
    'GitHub Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 138898 exceeds the limit of 64000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
    'contextTooLong',
    'microsoft/copilot-intellij-feedback#94',
  ],
  [
    'GitHub Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 93854 exceeds the limit of 90000',
        param: '',
        code: '',
        type: '',
      },
    },
    'contextTooLong',
    'jjleng/copilot-more#35',
  ],
  [
    'Bedrock',
    400,
    { message: 'Input is too long for requested model.' },
    'contextTooLong',
    'aws-samples/assessment-generator#2',
  ],
  [
    'Bedrock',
    400,
    { message: 'The model returned the following errors: Input is too long for requested model.' },
    'contextTooLong',
    'continuedev/continue#9592',
  ],
  [
    'Bedrock',
    400,
    {
      message: 'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
    },
    'contextTooLong',
    'daisuke-awaji/moca#254',
  ],
  [
    'Bedrock',
    400,
    {
      message:
        'Malformed input request: expected maxLength: 42000, actual: 46735, please reformat your input and try again.',
    },
    'contextTooLong',
    'ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9',
  ],
  [
    'Anthropic',
    400,
    anthropic('prompt is too long: 219898 tokens > 200000 maximum'),
    'contextTooLong',
    'earendil-works/pi#102',
  ],
  [
    'Google',
    400,
    google('The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).'),
    'contextTooLong',
    'google-gemini/gemini-cli#6678',
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    },
    'contextTooLong',
    'cline/cline#3120',
  ],
  [
    'OpenAI',
    400,
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
    ),
    'contextTooLong',
    'webtimemachine/wtm2#579',
  ],
  [
    'OpenAI',
    400,
    openAi(
      "This model's maximum context length is 8191 tokens, however you requested 8238 tokens (8238 in your prompt; 0 for the completion).",
    ),
    'contextTooLong',
    'fierceX/Document_QA#3',
  ],
  [
    'LM Studio',
    400,
    {
      error:
        'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
    },
    'contextTooLong',
    'lmstudio-ai/lmstudio-bug-tracker#546',
  ],
  [
    'LM Studio',
    400,
    { error: 'Input length 1581 exceeds context length 1500' },
    'contextTooLong',
    'lmstudio-ai/model-catalog#38',
  ],
  [
    'MiniMax',
    400,
    anthropic('invalid params, context window exceeds limit (2013)'),
    'contextTooLong',
    'MiniMax-AI/MiniMax-M2#119',
  ],
  [
    'z.ai',
    400,
    { error: { code: '1261', message: 'Prompt exceeds max length' } },
    'contextTooLong',
    'zeroclaw-labs/zeroclaw#4124',
  ],
  [
    'mlx-serve',
    400,
    anthropic('Prompt exceeds maximum context length'),
    'contextTooLong',
    'ddalcu/mlx-serve#66',
  ],
  [
    'gpt4all',
    500,
    { error: 'ERROR: The prompt size exceeds the context window size and cannot be processed.' },
    'contextTooLong',
    'nomic-ai/gpt4all#664',
  ],
];
