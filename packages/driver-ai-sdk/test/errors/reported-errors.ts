import type { DriverErrorKind } from '@holdfast/core/driver';
import { anthropic, google, openAi, type Row } from './reported-bodies.ts';
import { REPORTED_OVERFLOWS } from './reported-overflows.ts';

/** An error of a provider as somebody reported it: what the provider said, and where that can be read. */
export interface ReportedError {
  readonly of: string;
  readonly status: number;
  readonly body: unknown;
  readonly kind: DriverErrorKind;
  readonly source: string;
}

const failedCall =
  "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.";
const arrears = 'Access denied, please make sure your account is in good standing.';
const noCredits = 'Insufficient credits. This account never purchased credits.';

const MODELS: readonly Row[] = [
  [
    'Bedrock',
    400,
    { message: 'The provided model identifier is invalid.' },
    'modelNotFound',
    'iOfficeAI/AionCore#377',
  ],
  [
    'Bedrock',
    400,
    {
      message:
        'Invocation of model ID anthropic.claude-3-7-sonnet-20250219-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    },
    'modelNotFound',
    'FlowiseAI/Flowise#4253',
  ],
  [
    'Bedrock',
    400,
    { message: "The provided model doesn't support on-demand throughput." },
    'modelNotFound',
    'aws-samples/bedrock-chat#508',
  ],
  [
    'Groq',
    404,
    openAi(
      'The model `llama-3.1-405b-reasoning` does not exist or you do not have access to it.',
      'model_not_found',
    ),
    'modelNotFound',
    'lobehub/lobehub#3367',
  ],
  [
    'Groq',
    400,
    openAi(
      'The model `llama-3.2-11b-vision-preview` has been decommissioned and is no longer supported.',
      'model_decommissioned',
    ),
    'modelNotFound',
    'valentinfrlch/ha-llmvision#332',
  ],
  [
    'OpenRouter',
    400,
    { error: { message: 'claude-sonnet-4-6 is not a valid model ID', code: 400 } },
    'modelNotFound',
    'OpenRouterTeam/openrouter-examples#74',
  ],
  [
    'OpenRouter',
    400,
    { error: { message: 'minimax-m2.5:free is not a valid model ID', code: 400 }, user_id: 'user_1' },
    'modelNotFound',
    'sipeed/picoclaw#1790',
  ],
  [
    'OpenRouter',
    404,
    { error: { message: 'No endpoints found that support tool use.', code: 404 } },
    'modelNotFound',
    'lastmile-ai/mcp-agent#237',
  ],
  [
    'DeepSeek',
    400,
    openAi('Model Not Exist', 'invalid_request_error'),
    'modelNotFound',
    'ConardLi/easy-dataset#9',
  ],
  [
    'xAI',
    404,
    {
      code: 'Some requested entity was not found',
      error: 'The model grok-beta does not exist or your team x does not have access to it.',
    },
    'modelNotFound',
    'yihong0618/bilingual_book_maker#464',
  ],
  [
    'Kiro',
    400,
    { message: 'Invalid model. Please select a different model to continue.', reason: 'INVALID_MODEL_ID' },
    'modelNotFound',
    'decolua/9router#1187',
  ],
];

const KEYS: readonly Row[] = [
  [
    'Google',
    400,
    google('API key expired. Please renew the API key.', [
      { reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]),
    'authentication',
    'plainbook-ai/plainbook#25',
  ],
  [
    'Google',
    400,
    google('API key not valid. Please pass a valid API key.'),
    'authentication',
    'google-gemini/gemini-cli#4690',
  ],
];

const FILTERS: readonly Row[] = [
  [
    'DeepSeek',
    400,
    openAi('Content Exists Risk', 'invalid_request_error'),
    'contentFiltered',
    '666ghj/BettaFish#108',
  ],
  ['DeepSeek', 400, { detail: 'Content Exists Risk' }, 'contentFiltered', 'deepseek-ai/DeepSeek-V2#30'],
  [
    'Alibaba',
    400,
    openAi(
      'Input data may contain inappropriate content.',
      'data_inspection_failed',
      'data_inspection_failed',
    ),
    'contentFiltered',
    '666ghj/BettaFish#449',
  ],
  [
    'Alibaba',
    400,
    openAi(
      '<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.',
    ),
    'contentFiltered',
    'QwenLM/qwen-code#2905',
  ],
  [
    'Alibaba',
    400,
    openAi('Output data may contain inappropriate content'),
    'contentFiltered',
    'langgenius/dify-official-plugins#1651',
  ],
  [
    'Moonshot',
    400,
    {
      error: {
        code: 400,
        message: 'The request was rejected because it was considered high risk',
        param: 'prompt',
        type: 'content_filter',
      },
    },
    'contentFiltered',
    'TauricResearch/TradingAgents#1305',
  ],
];

const CREDIT: readonly Row[] = [
  [
    'Anthropic',
    400,
    anthropic(
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    'quotaExceeded',
    'anthropics/claude-code#4684',
  ],
  ['OpenRouter', 402, { error: { message: noCredits, code: 402 } }, 'quotaExceeded', 'Gitlawb/openclaude#43'],
  [
    'DeepSeek',
    402,
    openAi('Insufficient Balance', 'invalid_request_error', 'unknown_error'),
    'quotaExceeded',
    'Aider-AI/aider#4851',
  ],
  [
    'z.ai',
    429,
    { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
    'quotaExceeded',
    'zai-org/GLM-5#148',
  ],
  [
    'Zhipu',
    429,
    { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } },
    'quotaExceeded',
    'zhayujie/CowAgent#2910',
  ],
  [
    'Alibaba',
    400,
    openAi(arrears, 'Arrearage', 'Arrearage'),
    'quotaExceeded',
    'hsliuping/TradingAgents-CN#170',
  ],
  [
    'Alibaba',
    400,
    { statusCode: 400, message: arrears, code: 'Arrearage' },
    'quotaExceeded',
    'tencentmusic/supersonic#1572',
  ],
  [
    'OpenAI',
    429,
    openAi(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    'quotaExceeded',
    'mattvr/ShellGPT#23',
  ],
];

const ANSWERS: readonly Row[] = [
  [
    'Groq',
    400,
    {
      error: {
        message: failedCall,
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '{"tool_calls": [{"function": "billing"}]}',
      },
    },
    'brokenAnswer',
    'groq/groq-typescript#28',
  ],
  ['Groq', 400, openAi(failedCall), 'brokenAnswer', 'anomalyco/opencode#1018'],
  [
    'Groq',
    400,
    {
      error: {
        message:
          "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
        type: 'invalid_request_error',
        code: 'json_validate_failed',
        failed_generation: '',
      },
    },
    'brokenAnswer',
    'thepersonalaicompany/amurex-backend#38',
  ],
  [
    'Ollama',
    500,
    { error: 'error parsing tool call: raw=\'{"input":"*** Begin Patch"}]\', err=' },
    'brokenAnswer',
    'ollama/ollama#17638',
  ],
  [
    'OpenRouter',
    429,
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: { raw: 'glm is temporarily rate-limited upstream.' },
      },
    },
    'rateLimited',
    'open-webui/computer#293',
  ],
];

/** Refusals of the form of a request that gateways and servers report with the status of a failure of their own. */
const FORMS: readonly Row[] = [
  [
    'Continue',
    500,
    {
      error:
        'Error in Continue server: {"type":"error","error":{"type":"invalid_request_error","message":"messages.18: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01."}}',
    },
    'invalidRequest',
    'continuedev/continue#4762',
  ],
  [
    'Open WebUI',
    500,
    openAi(
      'API error: {"error": {"message": "Invalid parameter: messages with role \'tool\' must be a response to a preceeding message with \'tool_calls\'.", "type": "invalid_request_error", "param": "messages.[3].role"}}',
      '500',
      'internal_error',
    ),
    'invalidRequest',
    'Haervwe/open-webui-tools#12',
  ],
  [
    'a gateway',
    502,
    {
      error: {
        message: 'Bad gateway: upstream unavailable',
        type: 'upstream_error',
        metadata: { raw: JSON.stringify(anthropic('messages.3: Extra inputs are not permitted')) },
      },
    },
    'invalidRequest',
    'continuedev/continue#4762',
  ],
  [
    'llama.cpp',
    500,
    {
      error: {
        code: 500,
        message:
          'Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
        type: 'server_error',
      },
    },
    'invalidRequest',
    'ggml-org/llama.cpp#19851',
  ],
  [
    'llama.cpp',
    500,
    {
      error: {
        code: 500,
        message:
          'Failed to parse tool call arguments as JSON: parse error at line 1, column 27: invalid string',
        type: 'server_error',
      },
    },
    'invalidRequest',
    'ggml-org/llama.cpp#25510',
  ],
  [
    'LiteLLM',
    500,
    openAi(
      'litellm.InternalServerError: InternalServerError: Custom_openaiException - Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]',
      '500',
      'server_error',
    ),
    'invalidRequest',
    'vxcontrol/pentagi#313',
  ],
  [
    'vLLM',
    500,
    openAi(
      'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.',
      null,
      'InternalServerError',
    ),
    'invalidRequest',
    'vllm-project/vllm#9019',
  ],
];

/** Messages that resemble others, and mean something else. */
const OTHERS: readonly Row[] = [
  [
    'Bedrock',
    400,
    { message: 'The maximum tokens you requested exceeds the model limit of 32768' },
    'invalidRequest',
    'charmbracelet/crush#946',
  ],
  [
    'DeepSeek',
    400,
    openAi('Invalid max_tokens value, the valid range of max_tokens is [1, 393216]'),
    'invalidRequest',
    'MoonshotAI/kimi-code#509',
  ],
  [
    'Bedrock',
    400,
    {
      message:
        'Malformed input request: #/texts/1: expected maxLength: 2048, actual: 2449, please reformat your input and try again.',
    },
    'invalidRequest',
    'autogluon/autogluon-rag#50',
  ],
  [
    'DeepSeek',
    400,
    openAi(
      'The reasoning_content in the thinking mode must be passed back to the API.',
      'invalid_request_error',
    ),
    'invalidRequest',
    'JohnnyZ93/oai-compatible-copilot#202',
  ],
  [
    'DeepSeek',
    503,
    {
      error: {
        message: 'Service is too busy.',
        type: 'service_unavailable_error',
        code: 'invalid_request_error',
      },
    },
    'overloaded',
    'continuedev/continue#11285',
  ],
  ['Groq', 400, openAi('requested tool does not exist'), 'invalidRequest', 'BerriAI/litellm#11001'],
];

/** Errors of providers, each with its source. */
export const REPORTED_ERRORS: readonly ReportedError[] = [
  ...REPORTED_OVERFLOWS,
  ...MODELS,
  ...KEYS,
  ...FILTERS,
  ...CREDIT,
  ...ANSWERS,
  ...FORMS,
  ...OTHERS,
].map(([of, status, body, kind, source]) => ({ of, status, body, kind, source }));
