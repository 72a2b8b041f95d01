import type { RequestForm } from '@holdfast/core/driver';

/** The demands of some models of some providers on a request. */
export interface ProviderDemands {
  /** A regular expression over the provider of a model, as its AI SDK package names it. */
  readonly provider: string;
  /** A regular expression over the id of the model. Absent: all models. */
  readonly model?: string;
  readonly demands: Partial<Omit<RequestForm, 'name'>>;
  /** Where the demands are described: a public page, an issue of a public repository, or the source of a package. */
  readonly source: string;
  /** The month in which the source was read or written. */
  readonly date: string;
}

const LETTERS = 'A-Za-z0-9_-';
const NAME = { characters: LETTERS, maxLength: 64 } as const;

const ANTHROPIC = '(^|\\.)anthropic(\\.|$)';
const RESPONSES = '^(openai|azure|azure-openai)\\.responses';
const GOOGLE = '^(google|vertex)(?!.*anthropic)';

/**
 * The demands of the providers that are known, from the general to the special: later rows replace members of earlier ones.
 * A provider that no row names receives the strictest common form.
 */
export const PROVIDER_DEMANDS: readonly ProviderDemands[] = [
  {
    provider: ANTHROPIC,
    demands: {
      toolName: { characters: LETTERS, maxLength: 128 },
      callId: { characters: LETTERS, maxLength: 64 },
      takesUserMessagesInARow: true, // the package joins them
      takesUserMessageAfterResults: true,
      ownCallIds: '^(srvtoolu|mcptoolu)_',
      optionNames: ['anthropic'],
    },
    source:
      'home-assistant/core#147760, RooCodeInc/Roo-Code#10649, ding113/claude-code-hub#470, Kilo-Org/kilocode#6037',
    date: '2026-09',
  },
  {
    provider: '^(amazon-)?bedrock',
    demands: {
      toolName: NAME,
      callId: NAME,
      takesUserMessagesInARow: true, // the package joins them
      takesUserMessageAfterResults: true,
      optionNames: ['bedrock', 'amazonBedrock'],
    },
    source: 'openclaw/openclaw#12892, awsl-project/maxx#557, boto/botocore#3541, elastic/kibana#246393',
    date: '2026-09',
  },
  {
    provider: '^(amazon-)?bedrock',
    model: 'mistral',
    demands: { callId: { characters: 'A-Za-z0-9', minLength: 9, maxLength: 9 } },
    source: '@ai-sdk/amazon-bedrock@5.0.101',
    date: '2026-10',
  },
  {
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
    },
    source: 'mcp-use/mcp-use#90, agno-agi/agno#5382, Portkey-AI/gateway#1062',
    date: '2026-04',
  },
  {
    provider: RESPONSES,
    demands: {
      callId: { characters: LETTERS, maxLength: 64 },
      ownCallIds: '^(?!srvtoolu_|mcptoolu_)[a-z]+_',
      optionNames: ['openai', 'azure'],
      boundOptions: ['itemId', 'reasoningEncryptedContent'],
      ownCallsNeedReasoning: true,
    },
    source: 'AnswerDotAI/fastllm#45, mastra-ai/mastra#8738, vercel/ai#7099',
    date: '2026-09',
  },
  {
    provider: GOOGLE,
    demands: {
      toolName: { first: 'A-Za-z_', characters: 'A-Za-z0-9_.-', maxLength: 64 },
      callId: { characters: LETTERS, maxLength: 64 },
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
      ownCallIds: '^(?!srvtoolu_|mcptoolu_|[a-z]{2}_|mcpr?_)',
      optionNames: ['google', 'vertex', 'googleVertex'],
      boundOptions: ['thoughtSignature'],
    },
    source:
      'google-gemini/gemini-cli#2966, google-gemini/gemini-cli#26486, vercel/ai#3775, anomalyco/opencode#45359',
    date: '2026-09',
  },
  {
    provider: GOOGLE,
    model: 'gemini-([3-9]|\\d\\d)',
    demands: { callOptions: { google: { thoughtSignature: 'skip_thought_signature_validator' } } },
    source: '@ai-sdk/google@4.0.121',
    date: '2026-10',
  },
  {
    provider: '^mistral',
    demands: {
      toolName: NAME,
      callId: { characters: 'A-Za-z0-9', minLength: 9, maxLength: 9 },
    },
    source: 'aliou/pi-neuralwatt#12, mistralai/client-ts#106, @ai-sdk/mistral@4.0.87',
    date: '2026-08',
  },
  {
    provider: '^cohere',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
    },
    source: 'kwaroran/Risuai#504, kwaroran/Risuai#633',
    date: '2024-10',
  },
  {
    provider: '^(groq|xai|cerebras|fireworks|togetherai|ollama)',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessagesInARow: true,
      takesUserMessageAfterResults: true,
      takesLaterSystemMessages: true,
      ownCallIds: '^(?!srvtoolu_|mcptoolu_)',
    },
    source: 'vercel/ai#8057, elizaOS/eliza#18079, langbot-app/LangBot#1205',
    date: '2026-08',
  },
  {
    provider: '^(deepseek|moonshotai|alibaba)',
    demands: {
      toolName: NAME,
      callId: { characters: LETTERS, maxLength: 40 },
      takesUserMessageAfterResults: true,
      takesLaterSystemMessages: true,
    },
    source: 'mrexodia/ida-pro-mcp#129, deepseek-ai/DeepSeek-R1#21, BerriAI/litellm#42186',
    date: '2026-09',
  },
  {
    provider: '^gateway',
    demands: { ownCallIds: '' }, // the gateway has tools of its own
    source: '@ai-sdk/gateway@4.0.146',
    date: '2026-10',
  },
  {
    provider: '',
    model: 'deepseek-(reasoner|v4)|kimi-(k2|thinking)',
    demands: { reasoningBeforeCalls: ' ' },
    source: 'mastra-ai/mastra#12592, theopenco/llmgateway#2093, borawong/AiMaMi#8, @ai-sdk/deepseek@3.0.56',
    date: '2026-05',
  },
];
