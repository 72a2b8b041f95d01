import type { DriverErrorKind } from '@holdfast/core/driver';

/** A failure that providers report. */
export interface KnownError {
  readonly kind: DriverErrorKind;
  /**
   * An expression over the codes, types and messages of the error, in time linear in the length of the text. Absent: the
   * status alone determines the kind.
   */
  readonly says?: RegExp;
  /**
   * The HTTP status of the error; `failure` for those from 500, and for an error after an accepted call. Absent: each status
   * that does not determine the kind by itself.
   */
  readonly status?: number | 'failure';
  /** The providers and servers that report it. */
  readonly of: string;
  /** Where the error is described: a public page, an issue of a public repository, or the source of a package. */
  readonly source: string;
  /** The month in which the source was written or read. */
  readonly date: string;
}

const OPENAI = 'platform.openai.com/docs/guides/error-codes';
const ANTHROPIC = 'docs.claude.com/en/api/errors';
const GOOGLE = 'ai.google.dev/gemini-api/docs/troubleshooting';
const GROQ = 'console.groq.com/docs/errors';
const BEDROCK = 'docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html';
const XAI = 'docs.x.ai/docs/debugging';
const OPENROUTER = 'openrouter.ai/docs/api-reference/errors';
const DATE = '2026-11';

/**
 * The failures that are known by their words. The first row that fits holds, so the order is part of the table: an answer
 * that the provider quotes hides no other words, and a quota is more than a rate.
 */
export const KNOWN_MESSAGES: readonly KnownError[] = [
  // The model gave an answer that its provider could not read.
  {
    kind: 'brokenAnswer',
    says: /tool_use_failed|failed to call a function|json_validate_failed|failed to generate json|output_parse_failed/i,
    of: 'Groq',
    source: 'groq/groq-typescript#28, anomalyco/opencode#1018, thepersonalaicompany/amurex-backend#38',
    date: '2025-07',
  },
  {
    kind: 'brokenAnswer',
    says: /error parsing tool call/i,
    of: 'Ollama',
    source: 'ollama/ollama#17638, ollama/ollama#12064',
    date: '2026-08',
  },
  {
    kind: 'brokenAnswer',
    says: /responses api returned no output/i,
    of: 'OpenAI',
    source: '@ai-sdk/openai@4.0.118',
    date: DATE,
  },
  {
    kind: 'brokenAnswer',
    says: /expected a normalized anthropic stream error/i,
    of: 'Anthropic',
    source: '@ai-sdk/anthropic@4.0.105',
    date: DATE,
  },
  {
    kind: 'brokenAnswer',
    says: /cannot read properties of undefined \(reading '(message|delta)'\)/i,
    of: 'Mistral, for an answer without choices',
    source: '@ai-sdk/mistral@4.0.87',
    date: DATE,
  },

  // The connection ended inside an event.
  {
    kind: 'network',
    says: /incomplete amazon bedrock event-stream frame/i,
    of: 'Bedrock',
    source: '@ai-sdk/amazon-bedrock@5.0.101',
    date: DATE,
  },

  // The account has no credit.
  {
    kind: 'quotaExceeded',
    says: /insufficient[_ ]quota|exceeded your current quota|quota[_ ]?exceeded|billing|credit[_ ]balance|usage_limit_exceeded/i,
    of: 'OpenAI, Anthropic, Google',
    source: `${OPENAI}, anthropics/claude-code#4684, mattvr/ShellGPT#23`,
    date: DATE,
  },
  {
    kind: 'quotaExceeded',
    says: /spend(ing)?[_ ]limit|specified (workspace )?api usage limits/i,
    of: 'OpenAI, Anthropic',
    source: `${OPENAI}, ${ANTHROPIC}`,
    date: DATE,
  },
  {
    kind: 'quotaExceeded',
    says: /insufficient[_ ](credits|funds|balance)|payment required|(any|no|out of|available) credits/i,
    of: 'OpenRouter, DeepSeek, z.ai, xAI, Vercel AI Gateway',
    source:
      'Gitlawb/openclaude#43, Aider-AI/aider#4851, zai-org/GLM-5#148, vercel/ai#9290, continuedev/continue#9942',
    date: '2026-09',
  },
  {
    kind: 'quotaExceeded',
    says: /余额不足/,
    of: 'Zhipu',
    source: 'continuedev/continue#11823, zhayujie/CowAgent#2910',
    date: '2026-06',
  },
  {
    kind: 'quotaExceeded',
    says: /arrearage|account is in good standing|overdue account/i,
    of: 'Alibaba',
    source: 'tencentmusic/supersonic#1572, hsliuping/TradingAgents-CN#170, RooCodeInc/Roo-Code#12309',
    date: '2026-05',
  },
  {
    kind: 'quotaExceeded',
    says: /(weekly|monthly) usage limit|calls \/ month|service quota/i,
    of: 'Ollama, Cohere, Bedrock',
    source: `docs.ollama.com/cloud, docs.cohere.com/docs/rate-limits, ${BEDROCK}`,
    date: DATE,
  },

  {
    kind: 'rateLimited',
    says: /rate[_ ]limit|too many requests|resource[_ ]exhausted|throttl/i,
    of: 'OpenAI, Anthropic, Google, Bedrock, Alibaba',
    source: `${OPENAI}, ${ANTHROPIC}, ${GOOGLE}, ${BEDROCK}`,
    date: DATE,
  },

  // The request is longer than the window of the model.
  {
    kind: 'contextTooLong',
    says: /context[_ ](length|limit)|context window|maximum (context|prompt)/i,
    of: 'OpenAI, Anthropic, xAI, vLLM, MiniMax, llama-cpp-python, gpt4all',
    source:
      'smol-ai/developer#7, cline/cline#3120, MiniMax-AI/MiniMax-M2#119, rllm-team/rllm#55, nomic-ai/gpt4all#664',
    date: '2026-05',
  },
  {
    kind: 'contextTooLong',
    says: /prompt is too long/i,
    of: 'Anthropic, also on Bedrock and Vertex',
    source: 'earendil-works/pi#102, daisuke-awaji/moca#254',
    date: '2026-03',
  },
  {
    kind: 'contextTooLong',
    says: /input is too long|malformed input request: expected maxlength/i,
    of: 'Bedrock',
    source:
      'aws-samples/bedrock-chat#95, continuedev/continue#9592, ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9',
    date: '2026-01',
  },
  {
    kind: 'contextTooLong',
    says: /exceeds the maximum number of tokens/i,
    of: 'Google',
    source: 'google-gemini/gemini-cli#6678, google-gemini/gemini-cli#12214',
    date: '2025-10',
  },
  {
    kind: 'contextTooLong',
    says: /too many (input )?tokens/i,
    of: 'Cohere',
    source: 'docs.cohere.com/reference/errors',
    date: DATE,
  },
  {
    kind: 'contextTooLong',
    says: /exceed_context_size|available context size/i,
    of: 'llama.cpp',
    source: 'ggml-org/llama.cpp#15780, continuedev/continue#9797',
    date: '2026-01',
  },
  {
    kind: 'contextTooLong',
    says: /`inputs` (must have less than|tokens \+ `max_new_tokens` must be)/i,
    of: 'TGI',
    source: 'huggingface/llm-vscode#94, huggingface/text-generation-inference#695',
    date: '2024-10',
  },
  {
    kind: 'contextTooLong',
    says: /exceeded model token limit/i,
    of: 'Moonshot',
    source: 'MoonshotAI/kimi-cli#2011, 666ghj/MiroFish#240',
    date: '2026-06',
  },
  {
    kind: 'contextTooLong',
    says: /range of input length should be/i,
    of: 'Alibaba',
    source: 'QwenLM/qwen-code#98, agentscope-ai/QwenPaw#6255',
    date: '2026-07',
  },
  {
    kind: 'contextTooLong',
    says: /max_prompt_tokens_exceeded|prompt token count of \d+ exceeds/i,
    of: 'GitHub Copilot',
    source: 'microsoft/copilot-intellij-feedback#94, jjleng/copilot-more#35, microsoft/vscode#289514',
    date: '2026-02',
  },
  {
    kind: 'contextTooLong',
    says: /tokens when context the overflows/i,
    of: 'LM Studio',
    source: 'lmstudio-ai/lmstudio-bug-tracker#237, lmstudio-ai/lmstudio-bug-tracker#546',
    date: '2025-03',
  },
  {
    kind: 'contextTooLong',
    says: /prompt exceeds max/i,
    of: 'z.ai, mlx-serve',
    source: 'zeroclaw-labs/zeroclaw#4124, ddalcu/mlx-serve#66',
    date: '2026-07',
  },

  // A filter refused the request or the answer.
  {
    kind: 'contentFiltered',
    says: /content[_ ](filter|management|policy)|responsible ?ai/i,
    of: 'Azure, Anthropic, Moonshot',
    source:
      'learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, TauricResearch/TradingAgents#1305',
    date: '2026-09',
  },
  {
    kind: 'contentFiltered',
    says: /safety (system|settings|check)|usage (policy|policies|guidelines)|flagged/i,
    of: 'OpenAI, Google, xAI, OpenRouter',
    source: `${OPENAI}, ${GOOGLE}, ${XAI}, ${OPENROUTER}`,
    date: DATE,
  },
  {
    kind: 'contentFiltered',
    says: /content exists risk/i,
    of: 'DeepSeek',
    source: 'deepseek-ai/DeepSeek-V2#30, 666ghj/BettaFish#108, esengine/DeepSeek-Reasonix#6321',
    date: '2026-08',
  },
  {
    kind: 'contentFiltered',
    says: /data_?inspection_?failed|may contain inappropriate content/i,
    of: 'Alibaba',
    source: '666ghj/BettaFish#449, QwenLM/qwen-code#2905, langgenius/dify-official-plugins#1651',
    date: '2026-04',
  },

  // The key is refused.
  {
    kind: 'authentication',
    says: /(invalid|incorrect)[_ ]api[_ ]key|authentication[_ ]error|permission[_ ](error|denied)/i,
    of: 'OpenAI, Anthropic, xAI',
    source: `${OPENAI}, ${ANTHROPIC}, ${XAI}`,
    date: DATE,
  },
  {
    kind: 'authentication',
    says: /api[_ ]key[_ ](not valid|expired|invalid)/i,
    of: 'Google',
    source: 'continuedev/continue#11336, google-gemini/gemini-cli#4690, simonw/llm#1213',
    date: '2026-03',
  },

  // The provider has no such model, or not for this account.
  {
    kind: 'modelNotFound',
    says: /model[_ ]not[_ ]found|invalid[_ ]model|no such model|not_found_error/i,
    of: 'OpenAI, Anthropic, Mistral',
    source: `${OPENAI}, ${ANTHROPIC}, decolua/9router#1187`,
    date: DATE,
  },
  {
    kind: 'modelNotFound',
    says: /model identifier is invalid|on-demand throughput/i,
    of: 'Bedrock',
    source: 'iOfficeAI/AionCore#377, RooCodeInc/Roo-Code#9182, langchain-ai/langchain-aws#258',
    date: '2026-06',
  },
  {
    kind: 'modelNotFound',
    says: /model_decommissioned|has been decommissioned|does not exist or you do not have access/i,
    of: 'Groq, OpenAI',
    source: 'valentinfrlch/ha-llmvision#332, ItzCrazyKns/Vane#771, continuedev/continue#10166',
    date: '2026-03',
  },
  {
    kind: 'modelNotFound',
    says: /is not a valid model id|no endpoints found/i,
    of: 'OpenRouter',
    source: 'OpenRouterTeam/openrouter-examples#74, sipeed/picoclaw#199, anomalyco/opencode#1558',
    date: '2026-05',
  },
  {
    kind: 'modelNotFound',
    says: /model not exist/i,
    of: 'DeepSeek',
    source: 'ConardLi/easy-dataset#9, langbot-app/LangBot#1643',
    date: '2026-04',
  },

  {
    kind: 'timeout',
    says: /timed? ?out|deadline[_ ]exceeded/i,
    of: 'Google, Bedrock',
    source: `${GOOGLE}, ${BEDROCK}`,
    date: DATE,
  },

  // A gateway or a server reports a refusal of the form with the status of its own failures.
  {
    kind: 'invalidRequest',
    status: 'failure',
    says: /\\?"type\\?"\s{0,4}:\s{0,4}\\?"invalid_request_error/i,
    of: 'gateways to OpenAI and Anthropic',
    source: 'continuedev/continue#4762, Haervwe/open-webui-tools#12',
    date: '2025-03',
  },
  {
    kind: 'invalidRequest',
    status: 'failure',
    says: /failed to parse tool call arguments|jinja exception|roles must alternate/i,
    of: 'llama.cpp, also behind LiteLLM and Jan',
    source: 'ggml-org/llama.cpp#25510, ggml-org/llama.cpp#19851, vxcontrol/pentagi#313, janhq/jan#6254',
    date: '2026-07',
  },
  {
    kind: 'invalidRequest',
    status: 'failure',
    says: /tool call id was .{1,100} but must be/i,
    of: 'vLLM, mlx-lm',
    source: 'vllm-project/vllm#9019, ml-explore/mlx-lm#1375, jundot/omlx#1997',
    date: '2026-06',
  },

  {
    kind: 'overloaded',
    says: /overloaded|server_error|internal[_ ]server|service[_ ]unavailable|unavailable|high demand|capacity/i,
    of: 'OpenAI, Anthropic, Google, Groq, Bedrock',
    source: `${OPENAI}, ${ANTHROPIC}, ${GOOGLE}, ${GROQ}`,
    date: DATE,
  },
];

/** The refusals that another form of the same call avoids: the driver repeats the call once. */
export const CORRECTABLE = {
  /** The conversation refers to an item that the provider no longer has. */
  itemGone: {
    says: /\bitem (with id )?['"`]?\w+['"`]? (was )?not found/i,
    of: 'OpenAI',
    source: 'NousResearch/hermes-agent#10217, langchain-ai/langchain#38372',
    date: '2026-07',
  },
  /** A model that does not reason was asked for its encrypted reasoning. */
  encryptionRefused: {
    says: /encrypted[_ ]content'? is not supported/i,
    of: 'OpenAI, Azure',
    source: 'pydantic/pydantic-ai#2865, miquido/draive#399, ShishirPatil/gorilla#1148',
    date: '2025-09',
  },
  /** A model takes no marks for its prompt cache. */
  cacheRefused: {
    says: /did not allow prompt caching|cache ?point/i,
    of: 'Bedrock',
    source: 'anomalyco/opencode#782, BerriAI/litellm#39210, danny-avila/LibreChat#13838',
    date: '2026-09',
  },
} as const satisfies Readonly<Record<string, Omit<KnownError, 'kind'>>>;

/** The kinds of the HTTP statuses, for errors that no row above names. */
export const KNOWN_STATUSES: readonly KnownError[] = [
  { status: 401, kind: 'authentication', of: 'all', source: OPENAI, date: DATE },
  { status: 402, kind: 'quotaExceeded', of: 'Anthropic, OpenRouter', source: OPENROUTER, date: DATE },
  { status: 403, kind: 'authentication', of: 'all', source: ANTHROPIC, date: DATE },
  { status: 404, kind: 'modelNotFound', of: 'all', source: ANTHROPIC, date: DATE },
  { status: 408, kind: 'timeout', of: 'Bedrock, OpenRouter', source: OPENROUTER, date: DATE },
  { status: 409, kind: 'overloaded', of: 'Anthropic', source: ANTHROPIC, date: DATE },
  { status: 413, kind: 'contextTooLong', of: 'Anthropic, Groq', source: ANTHROPIC, date: DATE },
  { status: 424, kind: 'overloaded', of: 'Bedrock', source: BEDROCK, date: DATE },
  { status: 429, kind: 'rateLimited', of: 'all', source: OPENAI, date: DATE },
  {
    status: 498,
    kind: 'contentFiltered',
    of: 'Cohere',
    source: 'docs.cohere.com/reference/errors',
    date: DATE,
  },
  { status: 504, kind: 'timeout', of: 'Google', source: GOOGLE, date: DATE },
];
