import type { DriverErrorKind } from '@holdfast/core/driver';

/**
 * A failure that providers report. Each row of the tables below has a comment: the providers and servers that report it, where
 * it is described (public pages, issues of public repositories, sources of packages), and the month in which that was written
 * or read.
 */
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
}

/**
 * The failures that are known by their words. The first row that fits holds, so the order is part of the table: an answer
 * that the provider quotes hides no other words, and a quota is more than a rate.
 */
export const KNOWN_MESSAGES: readonly KnownError[] = [
  // The model gave an answer that its provider could not read.
  {
    // Groq: groq/groq-typescript#28, anomalyco/opencode#1018, thepersonalaicompany/amurex-backend#38 (2025-07)
    kind: 'brokenAnswer',
    says: /tool_use_failed|failed to call a function|json_validate_failed|failed to generate json|output_parse_failed/i,
  },
  {
    // Ollama: ollama/ollama#17638, ollama/ollama#12064 (2026-08)
    kind: 'brokenAnswer',
    says: /error parsing tool call/i,
  },
  {
    // OpenAI: @ai-sdk/openai@4.0.118 (2026-11)
    kind: 'brokenAnswer',
    says: /responses api returned no output/i,
  },
  {
    // Anthropic: @ai-sdk/anthropic@4.0.105 (2026-11)
    kind: 'brokenAnswer',
    says: /expected a normalized anthropic stream error/i,
  },
  {
    // Mistral, for an answer without choices: @ai-sdk/mistral@4.0.87 (2026-11)
    kind: 'brokenAnswer',
    says: /cannot read properties of undefined \(reading '(message|delta)'\)/i,
  },

  // The connection ended inside an event.
  {
    // Bedrock: @ai-sdk/amazon-bedrock@5.0.101 (2026-11)
    kind: 'network',
    says: /incomplete amazon bedrock event-stream frame/i,
  },

  // The account has no credit.
  {
    // OpenAI, Anthropic, Google: platform.openai.com/docs/guides/error-codes, anthropics/claude-code#4684,
    // mattvr/ShellGPT#23 (2026-11)
    kind: 'quotaExceeded',
    says: /insufficient[_ ]quota|exceeded your current quota|quota[_ ]?exceeded|billing|credit[_ ]balance|usage_limit_exceeded/i,
  },
  {
    // OpenAI, Anthropic: platform.openai.com/docs/guides/error-codes, docs.claude.com/en/api/errors (2026-11)
    kind: 'quotaExceeded',
    says: /spend(ing)?[_ ]limit|specified (workspace )?api usage limits/i,
  },
  {
    // OpenRouter, DeepSeek, z.ai, xAI, Vercel AI Gateway: Gitlawb/openclaude#43, Aider-AI/aider#4851, zai-org/GLM-5#148,
    // vercel/ai#9290, continuedev/continue#9942 (2026-09)
    kind: 'quotaExceeded',
    says: /insufficient[_ ](credits|funds|balance)|payment required|(any|no|out of|available) credits/i,
  },
  {
    // Zhipu: continuedev/continue#11823, zhayujie/CowAgent#2910 (2026-06)
    kind: 'quotaExceeded',
    says: /余额不足/,
  },
  {
    // Alibaba: tencentmusic/supersonic#1572, hsliuping/TradingAgents-CN#170, RooCodeInc/Roo-Code#12309 (2026-05)
    kind: 'quotaExceeded',
    says: /arrearage|account is in good standing|overdue account/i,
  },
  {
    // Ollama, Cohere, Bedrock: docs.ollama.com/cloud, docs.cohere.com/docs/rate-limits,
    // docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11)
    kind: 'quotaExceeded',
    says: /(weekly|monthly) usage limit|calls \/ month|service quota/i,
  },

  {
    // OpenAI, Anthropic, Google, Bedrock, Alibaba: platform.openai.com/docs/guides/error-codes,
    // docs.claude.com/en/api/errors, ai.google.dev/gemini-api/docs/troubleshooting,
    // docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11)
    kind: 'rateLimited',
    says: /rate[_ ]limit|too many requests|resource[_ ]exhausted|throttl/i,
  },

  // The request is longer than the window of the model.
  {
    // OpenAI, Anthropic, xAI, vLLM, MiniMax, llama-cpp-python, gpt4all: smol-ai/developer#7, cline/cline#3120,
    // MiniMax-AI/MiniMax-M2#119, rllm-team/rllm#55, nomic-ai/gpt4all#664 (2026-05)
    kind: 'contextTooLong',
    says: /context[_ ](length|limit)|context window|maximum (context|prompt)/i,
  },
  {
    // Anthropic, also on Bedrock and Vertex: earendil-works/pi#102, daisuke-awaji/moca#254 (2026-03)
    kind: 'contextTooLong',
    says: /prompt is too long/i,
  },
  {
    // Bedrock: aws-samples/bedrock-chat#95, continuedev/continue#9592, ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9 (2026-01)
    kind: 'contextTooLong',
    says: /input is too long|malformed input request: expected maxlength/i,
  },
  {
    // Google: google-gemini/gemini-cli#6678, google-gemini/gemini-cli#12214 (2025-10)
    kind: 'contextTooLong',
    says: /exceeds the maximum number of tokens/i,
  },
  {
    // Cohere: docs.cohere.com/reference/errors (2026-11)
    kind: 'contextTooLong',
    says: /too many (input )?tokens/i,
  },
  {
    // llama.cpp: ggml-org/llama.cpp#15780, continuedev/continue#9797 (2026-01)
    kind: 'contextTooLong',
    says: /exceed_context_size|available context size/i,
  },
  {
    // TGI: huggingface/llm-vscode#94, huggingface/text-generation-inference#695 (2024-10)
    kind: 'contextTooLong',
    says: /`inputs` (must have less than|tokens \+ `max_new_tokens` must be)/i,
  },
  {
    // Moonshot: MoonshotAI/kimi-cli#2011, 666ghj/MiroFish#240 (2026-06)
    kind: 'contextTooLong',
    says: /exceeded model token limit/i,
  },
  {
    // Alibaba: QwenLM/qwen-code#98, agentscope-ai/QwenPaw#6255 (2026-07)
    kind: 'contextTooLong',
    says: /range of input length should be/i,
  },
  {
    // GitHub Copilot: microsoft/copilot-intellij-feedback#94, jjleng/copilot-more#35, microsoft/vscode#289514 (2026-02)
    kind: 'contextTooLong',
    says: /max_prompt_tokens_exceeded|prompt token count of \d+ exceeds/i,
  },
  {
    // LM Studio: lmstudio-ai/lmstudio-bug-tracker#237, lmstudio-ai/lmstudio-bug-tracker#546 (2025-03)
    kind: 'contextTooLong',
    says: /tokens when context the overflows/i,
  },
  {
    // z.ai, mlx-serve: zeroclaw-labs/zeroclaw#4124, ddalcu/mlx-serve#66 (2026-07)
    kind: 'contextTooLong',
    says: /prompt exceeds max/i,
  },

  // A filter refused the request or the answer.
  {
    // Azure, Anthropic, Moonshot: learn.microsoft.com/azure/ai-services/openai/concepts/content-filter,
    // TauricResearch/TradingAgents#1305 (2026-09)
    kind: 'contentFiltered',
    says: /content[_ ](filter|management|policy)|responsible ?ai/i,
  },
  {
    // OpenAI, Google, xAI, OpenRouter: platform.openai.com/docs/guides/error-codes,
    // ai.google.dev/gemini-api/docs/troubleshooting, docs.x.ai/docs/debugging, openrouter.ai/docs/api-reference/errors
    // (2026-11)
    kind: 'contentFiltered',
    says: /safety (system|settings|check)|usage (policy|policies|guidelines)|flagged/i,
  },
  {
    // DeepSeek: deepseek-ai/DeepSeek-V2#30, 666ghj/BettaFish#108, esengine/DeepSeek-Reasonix#6321 (2026-08)
    kind: 'contentFiltered',
    says: /content exists risk/i,
  },
  {
    // Alibaba: 666ghj/BettaFish#449, QwenLM/qwen-code#2905, langgenius/dify-official-plugins#1651 (2026-04)
    kind: 'contentFiltered',
    says: /data_?inspection_?failed|may contain inappropriate content/i,
  },

  // The key is refused.
  {
    // OpenAI, Anthropic, xAI: platform.openai.com/docs/guides/error-codes, docs.claude.com/en/api/errors,
    // docs.x.ai/docs/debugging (2026-11)
    kind: 'authentication',
    says: /(invalid|incorrect)[_ ]api[_ ]key|authentication[_ ]error|permission[_ ](error|denied)/i,
  },
  {
    // Google: continuedev/continue#11336, google-gemini/gemini-cli#4690, simonw/llm#1213 (2026-03)
    kind: 'authentication',
    says: /api[_ ]key[_ ](not valid|expired|invalid)/i,
  },

  // The provider has no such model, or not for this account.
  {
    // OpenAI, Anthropic, Mistral: platform.openai.com/docs/guides/error-codes, docs.claude.com/en/api/errors,
    // decolua/9router#1187 (2026-11)
    kind: 'modelNotFound',
    says: /model[_ ]not[_ ]found|invalid[_ ]model|no such model|not_found_error/i,
  },
  {
    // Bedrock: iOfficeAI/AionCore#377, RooCodeInc/Roo-Code#9182, langchain-ai/langchain-aws#258 (2026-06)
    kind: 'modelNotFound',
    says: /model identifier is invalid|on-demand throughput/i,
  },
  {
    // Groq, OpenAI: valentinfrlch/ha-llmvision#332, ItzCrazyKns/Vane#771, continuedev/continue#10166 (2026-03)
    kind: 'modelNotFound',
    says: /model_decommissioned|has been decommissioned|does not exist or you do not have access/i,
  },
  {
    // OpenRouter: OpenRouterTeam/openrouter-examples#74, sipeed/picoclaw#199, anomalyco/opencode#1558 (2026-05)
    kind: 'modelNotFound',
    says: /is not a valid model id|no endpoints found/i,
  },
  {
    // DeepSeek: ConardLi/easy-dataset#9, langbot-app/LangBot#1643 (2026-04)
    kind: 'modelNotFound',
    says: /model not exist/i,
  },

  {
    // Google, Bedrock: ai.google.dev/gemini-api/docs/troubleshooting,
    // docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11)
    kind: 'timeout',
    says: /timed? ?out|deadline[_ ]exceeded/i,
  },

  // A gateway or a server reports a refusal of the form with the status of its own failures.
  {
    // gateways to OpenAI and Anthropic: continuedev/continue#4762, Haervwe/open-webui-tools#12 (2025-03)
    kind: 'invalidRequest',
    status: 'failure',
    says: /\\?"type\\?"\s{0,4}:\s{0,4}\\?"invalid_request_error/i,
  },
  {
    // llama.cpp, also behind LiteLLM and Jan: ggml-org/llama.cpp#25510, ggml-org/llama.cpp#19851, vxcontrol/pentagi#313,
    // janhq/jan#6254 (2026-07)
    kind: 'invalidRequest',
    status: 'failure',
    says: /failed to parse tool call arguments|jinja exception|roles must alternate/i,
  },
  {
    // vLLM, mlx-lm: vllm-project/vllm#9019, ml-explore/mlx-lm#1375, jundot/omlx#1997 (2026-06)
    kind: 'invalidRequest',
    status: 'failure',
    says: /tool call id was .{1,100} but must be/i,
  },

  {
    // OpenAI, Anthropic, Google, Groq, Bedrock: platform.openai.com/docs/guides/error-codes, docs.claude.com/en/api/errors,
    // ai.google.dev/gemini-api/docs/troubleshooting, console.groq.com/docs/errors (2026-11)
    kind: 'overloaded',
    says: /overloaded|server_error|internal[_ ]server|service[_ ]unavailable|unavailable|high demand|capacity/i,
  },
];

/** The refusals that another form of the same call avoids: the driver repeats the call once. */
export const CORRECTABLE = {
  /** The conversation refers to an item that the provider no longer has. */
  itemGone: {
    // OpenAI: NousResearch/hermes-agent#10217, langchain-ai/langchain#38372 (2026-07)
    says: /\bitem (with id )?['"`]?\w+['"`]? (was )?not found/i,
  },
  /** A model that does not reason was asked for its encrypted reasoning. */
  encryptionRefused: {
    // OpenAI, Azure: pydantic/pydantic-ai#2865, miquido/draive#399, ShishirPatil/gorilla#1148 (2025-09)
    says: /encrypted[_ ]content'? is not supported/i,
  },
  /** A model takes no marks for its prompt cache. */
  cacheRefused: {
    // Bedrock: anomalyco/opencode#782, BerriAI/litellm#39210, danny-avila/LibreChat#13838 (2026-09)
    says: /did not allow prompt caching|cache ?point/i,
  },
} as const satisfies Readonly<Record<string, Omit<KnownError, 'kind'>>>;

/** The kinds of the HTTP statuses, for errors that no row above names. */
export const KNOWN_STATUSES: readonly KnownError[] = [
  { status: 401, kind: 'authentication' }, // all: platform.openai.com/docs/guides/error-codes (2026-11)
  { status: 402, kind: 'quotaExceeded' }, // Anthropic, OpenRouter: openrouter.ai/docs/api-reference/errors (2026-11)
  { status: 403, kind: 'authentication' }, // all: docs.claude.com/en/api/errors (2026-11)
  { status: 404, kind: 'modelNotFound' }, // all: docs.claude.com/en/api/errors (2026-11)
  { status: 408, kind: 'timeout' }, // Bedrock, OpenRouter: openrouter.ai/docs/api-reference/errors (2026-11)
  { status: 409, kind: 'overloaded' }, // Anthropic: docs.claude.com/en/api/errors (2026-11)
  { status: 413, kind: 'contextTooLong' }, // Anthropic, Groq: docs.claude.com/en/api/errors (2026-11)
  { status: 424, kind: 'overloaded' }, // Bedrock: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11)
  { status: 429, kind: 'rateLimited' }, // all: platform.openai.com/docs/guides/error-codes (2026-11)
  { status: 498, kind: 'contentFiltered' }, // Cohere: docs.cohere.com/reference/errors (2026-11)
  { status: 504, kind: 'timeout' }, // Google: ai.google.dev/gemini-api/docs/troubleshooting (2026-11)
];
