import { ANTHROPIC, BEDROCK } from '../forms/provider-demands.ts';

/**
 * A way in which providers name the part of a request that they refuse. Each row of the table has a comment: the providers and
 * servers that write it, the issues of public repositories that quote it, and the month of the newest one.
 */
export interface KnownPlace {
  /**
   * An expression over the text of an error, in time linear in the length of the text. Its group `index` is an index in the
   * list, or its group `id` the id of a call or of an item. `inside` is the path inside of the element, and `role` the
   * role of the element.
   */
  readonly says: RegExp;
  /** The member of the request that has the list. Absent: whichever list the request has. */
  readonly list?: 'messages' | 'input' | 'contents';
  /** An expression over providers, as their AI SDK packages name them. Absent: all. */
  readonly provider?: RegExp;
  /** The index of the first element; default 0. */
  readonly first?: number;
  /** Present when the last element with the id is meant. Absent: the first one. */
  readonly isLast?: boolean;
}

/** Other servers pass on this form from a provider behind them, which counts the messages of another request. */
const WRITES_DOTS = new RegExp(`${ANTHROPIC}|${BEDROCK}|^(groq|mistral|cerebras)\\b`);

const INSIDE_DOTS = String.raw`(?<inside>(?:\.\w{1,40}){0,12})`;
const INSIDE_BRACKETS = String.raw`(?<inside>(?:\.?\[\d{1,6}\]|\.\w{1,40}){0,12})`;
const ID = String.raw`['"\x60]?(?<id>[\w-]{1,100})`;

/** The places that providers name. The first row whose place is in the request holds: an index tells more than an id. */
export const KNOWN_PLACES: readonly KnownPlace[] = [
  {
    // Bedrock: tontinton/maki#38, openclaw/openclaw#12892, NousResearch/hermes-agent#90008 (2026-08)
    says: new RegExp(String.raw`\bmessages\.(?<index>\d{1,6})\.member\b${INSIDE_DOTS}`),
    list: 'messages',
    provider: WRITES_DOTS,
    first: 1,
  },
  {
    // Anthropic, Bedrock, Groq, Cerebras: anthropics/claude-code#4378, anthropics/claude-code#1577,
    // continuedev/continue#9767, OpenHands/OpenHands#4643, Kilo-Org/kilocode#10375 (2026-07)
    says: new RegExp(String.raw`\bmessages\.(?<index>\d{1,6})\b(?!\.member)${INSIDE_DOTS}`),
    list: 'messages',
    provider: WRITES_DOTS,
  },
  {
    // OpenAI, Azure, DeepSeek, Alibaba, Zhipu: chatboxai/chatbox#2079, Haervwe/open-webui-tools#12,
    // deepseek-ai/DeepSeek-R1#21, QwenLM/Qwen3-Coder#455 (2025-07)
    says: new RegExp(String.raw`\bmessages?\.?\[(?<index>\d{1,6})\]${INSIDE_BRACKETS}`),
    list: 'messages',
  },
  {
    // OpenAI, Azure: AnswerDotAI/fastllm#45, openclaw/openclaw#875 (2026-06)
    says: new RegExp(String.raw`\binput\[(?<index>\d{1,6})\]${INSIDE_BRACKETS}`),
    list: 'input',
  },
  {
    // Google: QuantumNous/new-api#1060, boldsoftware/sketch#68, Chevey339/kelivo#543 (2026-04)
    says: new RegExp(String.raw`\bcontents\[(?<index>\d{1,6})\]${INSIDE_BRACKETS}`),
    list: 'contents',
  },
  {
    // Mistral: charmbracelet/crush#1590, Gage-Technologies/mistral-go#3 (2025-12)
    says: /["']messages\\?["'],\s{0,2}(?<index>\d{1,6})\b(?<inside>(?:,\s{0,2}[\\"']{0,2}\w{1,40}[\\"']{0,2}){0,12})/,
    list: 'messages',
  },
  {
    // Moonshot: MoonshotAI/kimi-code#1985, MoonshotAI/kimi-cli#788 (2026-07)
    says: /\bmessage at position (?<index>\d{1,6})(?: with role '(?<role>\w{1,20})')?/,
    list: 'messages',
  },
  {
    // DeepSeek, Moonshot: continuedev/continue#11285, langgenius/dify-official-plugins#2306, mastra-ai/mastra#12592
    // (2026-05)
    says: /\b(?<role>assistant) (?:tool call )?message at (?:message )?index (?<index>\d{1,6})/,
    list: 'messages',
  },

  {
    // Anthropic: anthropics/claude-code#1577, anthropics/claude-code#8210 (2026-01)
    says: new RegExp(`blocks immediately after: ${ID}`),
  },
  {
    // Anthropic: anthropics/claude-code#18947 (2026-02)
    says: new RegExp(String.raw`unexpected \x60tool_use_id\x60 found in [\w\x60]{1,60} blocks: ${ID}`),
    isLast: true,
  },
  {
    // OpenAI, Azure: langgenius/dify#32222, agno-agi/agno#3105 (2026-07)
    says: new RegExp(`did not have response messages: ${ID}`),
  },
  {
    // OpenAI, DeepSeek: vercel/ai#13307, deepseek-ai/awesome-deepseek-integration#740 (2026-09)
    says: new RegExp(`No tool output found for (?:function|tool) call ${ID}`),
  },
  {
    // OpenAI: microsoft/vscode#320060, agentscope-ai/AgentTeams#299 (2026-06)
    says: new RegExp(`No tool call found for function call output with call_id ${ID}`),
    isLast: true,
  },
  {
    // OpenAI: vercel/ai#7099, mastra-ai/mastra#8738 (2026-09)
    says: new RegExp(String.raw`Item ${ID}['"]? of type ['"]?\w{1,40}['"]? was provided without`),
  },
  {
    // OpenAI: earendil-works/pi#5151, agno-agi/agno#5116 (2026-06)
    says: new RegExp(`Duplicate (?:item found with id|value for 'tool_call_id' of) ${ID}`),
    isLast: true,
  },
  {
    // Mistral, vLLM, mlx-lm: anomalyco/opencode#1680, vllm-project/vllm#9019 (2026-03)
    says: new RegExp(`Tool call id was ${ID} but must be`),
  },
  {
    // MiniMax: NousResearch/hermes-agent#12167, can1357/oh-my-pi#181 (2026-04)
    says: new RegExp(`function arguments json string, tool_call_id: ${ID}`),
  },
  {
    // Moonshot, Ollama: yaogang1991/harness#392, openclaw/openclaw#84730, continuedev/continue#11756 (2026-09)
    says: new RegExp(
      `(?:tool_call_id|Unexpected tool call id) ${ID} (?:is (?:not found|duplicated)|in tool results)`,
    ),
    isLast: true,
  },
];
