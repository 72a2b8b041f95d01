import type { RequestForm } from '@holdfast/core/driver';
import { PDF, PICTURES, SOUNDS, TEXTS } from './media-types.ts';

/**
 * The demands of some models of some providers on a request. Each row of the table has a comment: where the demands are
 * described (issues of public repositories, sources of packages), and the month in which that was read or written.
 */
export interface ProviderDemands {
  /** A regular expression over the provider of a model, as its AI SDK package names it. */
  readonly provider: string;
  /** A regular expression over the id of the model. Absent: all models. */
  readonly model?: string;
  /** The demands that the loop meets. A router passes on those of the provider behind it. */
  readonly demands?: Partial<Omit<RequestForm, 'name'>>;
  /** The demands that the driver meets. */
  readonly call?: CallDemands;
}

/** The demands of a provider and its AI SDK package on the options of a call, and on what no `RequestForm` can express. */
export interface CallDemands {
  /** The switch that turns thinking on. It must be off when the last tool calls have no thinking before them. */
  readonly thinking?: ThinkingSwitch;
  /** True when the package omits thinking without a signature. */
  readonly omitsUnsignedThinking?: boolean;
  /** True for a provider without the tool choice `none`: its package then omits the tools and the calls of the history. */
  readonly lacksNoneChoice?: boolean;
  /** Present when the provider stores each response for some time, unless the call forbids it. */
  readonly storage?: StorageSwitch;
  /** True when the server takes base64 only, although the package sends URLs and bytes as they are. */
  readonly takesBase64Only?: boolean;
  /**
   * How the files in results of tools are sent; default `asFiles`. `asNotes`: the package would write them as JSON, so that
   * a model reads a picture as base64. `afterResults`: the same, but the model reads pictures in a message of the user
   * after the results.
   */
  readonly resultFiles?: 'asFiles' | 'asNotes' | 'afterResults';
}

/** The member of a provider's options that turns thinking on. */
interface ThinkingSwitch {
  /** The names of the provider's options, of which the package reads the last one that is there. */
  readonly options: readonly [string, ...string[]];
  readonly member: string;
}

/** The options of a provider that has the member `store`. */
interface StorageSwitch {
  /** The names of the options, of which the package reads the first one that is there; `openai` when none is. */
  readonly options: readonly string[];
  /** True when the driver must ask for encrypted reasoning behind ids that the package does not know. */
  readonly asksForReasoning: boolean;
}

const LETTERS = 'A-Za-z0-9_-';
const NAME = { characters: LETTERS, maxLength: 64 } as const;

const DOCUMENTS = `${PDF}|^text/(csv|html|plain|markdown)$`;

/** The ids that Mistral demands. */
const SHORT_ID = { characters: 'A-Za-z0-9', minLength: 9, maxLength: 9 } as const;

/** The providers with the protocol of Anthropic, also behind other clouds. */
export const ANTHROPIC = '(^|\\.)anthropic(\\.|$)';
export const BEDROCK = '^(amazon-)?bedrock';
/** Routers may pass a request on to several providers. */
export const ROUTERS = '^(gateway|openrouter)';
const RESPONSES = '^(openai|azure|azure-openai)\\.responses';
const GOOGLE_FILES = `^image/(png|jpeg|webp|heic|heif|gif)$|^audio/|^video/|${PDF}|${TEXTS}`;
const GOOGLE = '^(google|vertex)(?!.*anthropic)';

const ANTHROPIC_THINKING: ThinkingSwitch = { options: ['anthropic'], member: 'thinking' };

/**
 * The demands of the providers that are known, from the general to the special: later rows replace members of earlier ones.
 * A provider that no row names receives the strictest common form.
 */
export const PROVIDER_DEMANDS: readonly ProviderDemands[] = [
  {
    // @ai-sdk/openai-compatible@3.0.92, @ai-sdk/groq@4.0.84, @ai-sdk/mistral@4.0.87, @ai-sdk/cohere@4.0.52 (2026-11)
    provider: '\\.chat$|^(groq|mistral|cohere|cerebras)\\b',
    call: { resultFiles: 'asNotes' },
  },
  {
    // @ai-sdk/deepseek@3.0.56, @ai-sdk/xai@5.0.12, @ai-sdk/google-vertex@5.0.141 (2026-11)
    provider: '^(deepseek|xai|google\\.vertex)\\.chat$',
    call: { resultFiles: 'asFiles' },
  },
  {
    // home-assistant/core#147760, RooCodeInc/Roo-Code#10649, ding113/claude-code-hub#470, Kilo-Org/kilocode#6037,
    // anomalyco/opencode#3077, Kilo-Org/kilocode#5219, NousResearch/hermes-agent#15700, esengine/DeepSeek-Reasonix#8927,
    // QwenLM/qwen-code#3788 (2026-11)
    provider: ANTHROPIC,
    demands: {
      toolName: { characters: LETTERS, maxLength: 128 },
      callId: { characters: LETTERS, maxLength: 64 },
      takesUserMessagesInARow: true, // the package joins them
      takesUserMessageAfterResults: true,
      ownCallIds: '^(srvtoolu|mcptoolu)_',
      optionNames: ['anthropic'],
      files: { user: `${PICTURES}|${PDF}|^text/plain$`, result: `${PICTURES}|${PDF}` },
    },
    call: { thinking: ANTHROPIC_THINKING, omitsUnsignedThinking: true },
  },
  {
    // openclaw/openclaw#12892, awsl-project/maxx#557, boto/botocore#3541, elastic/kibana#246393, vxcontrol/pentagi#196,
    // BerriAI/litellm#30093, @ai-sdk/amazon-bedrock@5.0.101 (2026-10)
    provider: BEDROCK,
    demands: {
      toolName: NAME,
      callId: NAME,
      takesUserMessagesInARow: true, // the package joins them
      takesUserMessageAfterResults: true,
      optionNames: ['bedrock', 'amazonBedrock'],
      files: { user: `${PICTURES}|${DOCUMENTS}`, result: PICTURES },
      filesNeedText: true,
      omitsFileNames: true, // two documents must not have one name
      declaresCalledTools: true, // without tools, the package omits the calls
    },
    call: {
      thinking: { options: ['bedrock', 'amazonBedrock'], member: 'reasoningConfig' },
      lacksNoneChoice: true,
    },
  },
  {
    // @ai-sdk/amazon-bedrock@5.0.101 (2026-10)
    provider: `${BEDROCK}.*\\.anthropic(\\.|$)`,
    call: { thinking: ANTHROPIC_THINKING },
  },
  {
    // @ai-sdk/amazon-bedrock@5.0.101 (2026-10)
    provider: BEDROCK,
    model: 'mistral',
    demands: { callId: SHORT_ID },
  },
  {
    // mcp-use/mcp-use#90, agno-agi/agno#5382, Portkey-AI/gateway#1062, @ai-sdk/openai@4.0.118 (2026-04)
    provider: '^(openai|azure|azure-openai)\\.',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesBlankTexts: true,
      takesLaterSystemMessages: true,
      takesFirstAnswer: true,
      takesLastAnswer: true,
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
      files: { user: `${PICTURES}|${PDF}|${SOUNDS}`, result: PICTURES }, // see `resultFiles`
    },
  },
  {
    // Azure/azure-sdk-for-net#51873, pydantic/pydantic-ai#4035, openai/openai-python#2300 (2026-09)
    provider: '^(azure|azure-openai)\\.chat',
    demands: { files: { user: PICTURES, result: PICTURES } },
  },
  {
    // @ai-sdk/openai@4.0.118 (2026-11)
    provider: '^(openai|azure)\\.chat',
    call: { resultFiles: 'afterResults' },
  },
  {
    // NousResearch/hermes-agent#10217, langchain-ai/langchain#38372, @ai-sdk/openai@4.0.118 (2026-11)
    provider: '^openai[.-].*responses$',
    call: { storage: { options: ['openai'], asksForReasoning: true } },
  },
  {
    // NousResearch/hermes-agent#10217, langchain-ai/langchain#38372, @ai-sdk/openai@4.0.118 (2026-11)
    provider: '^azure[.-].*responses$',
    call: { storage: { options: ['azure', 'openai'], asksForReasoning: true } },
  },
  {
    // AnswerDotAI/fastllm#45, mastra-ai/mastra#8738, vercel/ai#7099 (2026-09)
    provider: RESPONSES,
    demands: {
      callId: { characters: LETTERS, maxLength: 64 },
      ownCallIds: '^(?!srvtoolu_|mcptoolu_)[a-z]+_',
      optionNames: ['openai', 'azure'],
      boundOptions: ['itemId', 'reasoningEncryptedContent'],
      ownCallsNeedReasoning: true,
      files: { user: `${PICTURES}|${PDF}`, result: `${PICTURES}|${PDF}` },
    },
  },
  {
    // google-gemini/gemini-cli#2966, google-gemini/gemini-cli#26486, vercel/ai#3775, anomalyco/opencode#45359 (2026-09)
    provider: GOOGLE,
    demands: {
      toolName: { first: 'A-Za-z_', characters: 'A-Za-z0-9_.-', maxLength: 64 },
      callId: { characters: LETTERS, maxLength: 64 },
      takesUserMessagesInARow: false, // a call must follow a message of the user
      takesUserMessageAfterResults: true,
      ownCallIds: '^(?!srvtoolu_|mcptoolu_|[a-z]{2}_|mcpr?_)',
      optionNames: ['google', 'vertex', 'googleVertex'],
      boundOptions: ['thoughtSignature'],
      files: { user: GOOGLE_FILES, answer: PICTURES },
    },
  },
  {
    // @ai-sdk/google@4.0.121, watt-mind/coach#280 (2026-10)
    provider: GOOGLE,
    model: 'gemini-([3-9]|\\d\\d)',
    demands: {
      callOptions: { google: { thoughtSignature: 'skip_thought_signature_validator' } },
      declaresCalledTools: true,
      files: { user: GOOGLE_FILES, answer: PICTURES, result: GOOGLE_FILES },
    },
  },
  {
    // aliou/pi-neuralwatt#12, mistralai/client-ts#106, @ai-sdk/mistral@4.0.87 (2026-08)
    provider: '^mistral',
    demands: {
      toolName: NAME,
      callId: SHORT_ID,
      files: { user: `${PICTURES}|${PDF}` },
    },
  },
  {
    // kwaroran/Risuai#504, kwaroran/Risuai#633 (2024-10)
    provider: '^cohere',
    demands: {
      toolName: { first: 'A-Za-z_', characters: 'A-Za-z0-9_', maxLength: 64 },
      files: { user: `${PICTURES}|${TEXTS}` },
      filesNeedText: true,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
    },
  },
  {
    // vercel/ai#8057, elizaOS/eliza#18079, langbot-app/LangBot#1205 (2026-08)
    provider: '^(groq|xai|cerebras|fireworks|togetherai|ollama)',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
      takesLaterSystemMessages: true,
    },
  },
  {
    // @ai-sdk/groq@4.0.84, danny-avila/LibreChat#2494 (2026-11)
    provider: '^(groq|ollama)',
    demands: { files: { user: PICTURES } },
  },
  {
    // danny-avila/LibreChat#2494, cdaein/rename-screenshot#1 (2026-11)
    provider: '^ollama',
    demands: { filesNeedText: true }, // the package sends a list without a text
    call: { takesBase64Only: true },
  },
  {
    // @ai-sdk/xai@5.0.12 (2026-11)
    provider: '^xai',
    demands: { files: { user: PICTURES, userUrl: `${PDF}|${TEXTS}` } },
  },
  {
    // @ai-sdk/xai@5.0.12 (2026-11)
    provider: '^xai\\.responses',
    demands: { files: { user: PICTURES, userUrl: `${PDF}|${TEXTS}`, result: PICTURES } },
  },
  {
    // langchain-ai/langchain#34140, langchain-ai/langchainjs#8643, vercel/ai#14618, lmstudio-ai/lmstudio-bug-tracker#261
    // (2026-11)
    provider: '^(xai\\.chat|cerebras|litellm|lmstudio)',
    demands: { textBeforeCalls: '(calls a tool)' },
  },
  {
    // mcp-use/mcp-use#90 (2026-11)
    provider: '^(fireworks|togetherai)',
    demands: {
      toolName: { first: 'A-Za-z_', characters: LETTERS, maxLength: 64 },
      takesLaterSystemMessages: false,
    },
  },
  {
    // Kilo-Org/kilocode#10375, vellum-ai/vellum-assistant#42635, farion1231/cc-switch#2365 (2026-11)
    provider: '^(cerebras|fireworks|togetherai)',
    demands: { takesReasoning: false },
  },
  {
    // camel-ai/owl#532, anomalyco/opencode#8246, BerriAI/litellm#5747 (2026-11)
    provider: '^litellm',
    demands: { declaresCalledTools: true },
  },
  {
    // mrexodia/ida-pro-mcp#129, deepseek-ai/DeepSeek-R1#21, BerriAI/litellm#42186 (2026-09)
    provider: '^(deepseek|moonshotai|alibaba)',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessageAfterResults: true,
      takesLaterSystemMessages: true,
    },
  },
  {
    // nesquena/hermes-webui#2297, 1jehuang/jcode#310, rikkahub/rikkahub#1433 (2026-11)
    provider: '^deepseek',
    model: '^deepseek-(chat|reasoner|r1|v[34])',
    demands: { files: {} },
  },
  {
    // deepseek-ai/awesome-deepseek-integration#740 (2026-11)
    provider: '^deepseek\\.responses',
    demands: { takesSingleCalls: true },
  },
  {
    // MoonshotAI/kimi-cli#1773 (2026-11)
    provider: '^moonshotai',
    demands: { toolName: { first: 'A-Za-z', characters: LETTERS, maxLength: 64 } },
  },
  {
    // openclaw/openclaw#875, tailcallhq/forgecode#1142 (2026-11)
    provider: ROUTERS,
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      files: {
        user: `${PICTURES}|${PDF}|${SOUNDS}|${TEXTS}`,
        answer: PICTURES,
        result: `${PICTURES}|${PDF}`,
      },
    },
  },
  {
    // @openrouter/ai-sdk-provider@3.1.0 (2026-11)
    provider: '^openrouter',
    demands: { ownCallIds: '(?!)' }, // its package would send a call that a provider ran as one without a result
  },
  {
    // @ai-sdk/gateway@4.0.146 (2026-10)
    provider: '^gateway',
    demands: { ownCallIds: '^(?![a-z]{2}_|mcpr?_)' }, // the gateway has tools of its own
  },
  {
    // @ai-sdk/gateway@4.0.146 (2026-10)
    provider: '^gateway',
    model: '^openai/',
    demands: { ownCallIds: '^(?!srvtoolu_|mcptoolu_)' },
  },
  {
    // @ai-sdk/gateway@4.0.146 (2026-10)
    provider: '^gateway$',
    model: '^openai/',
    call: { storage: { options: ['openai'], asksForReasoning: false } },
  },
  {
    // jundot/omlx#1997, ml-explore/mlx-lm#1375, vllm-project/vllm#9019 (2026-11)
    provider: '',
    model: '(^|/)(mi[ns]tral|ministral|magistral|devstral|codestral|pixtral|mixtral)',
    demands: { callId: SHORT_ID, takesUserMessageAfterResults: false },
  },
  {
    // mastra-ai/mastra#12592, theopenco/llmgateway#2093, borawong/AiMaMi#8, @ai-sdk/deepseek@3.0.56 (2026-05)
    provider: '',
    model: 'deepseek-(reasoner|v4)|kimi-(k2|thinking)',
    demands: { reasoningBeforeCalls: ' ' },
  },
];
