import type { OptionChecks } from '../arguments.ts';
import { checkArgument, mustBe, optionsCheck } from '../arguments.ts';
import { invalidArgument } from '../errors.ts';
import type { AgentState } from '../state/agent-state.ts';
import { InferenceResponse } from '../state/inference/inference-response.ts';
import { List } from '../state/values/list.ts';
import type { LlmConfig } from '../state/llm-config.ts';
import { CONVERSATION } from '../state/messages/message-store.ts';
import type { Message, Messages } from '../state/messages/messages.ts';
import { userMessage } from '../state/messages/messages.ts';
import { conversationWithCurrentToolTrace } from '../loop/compile/compile-messages.ts';
import type { MessageCompiler } from '../loop/compile/compile-messages.ts';
import type { Driver, InferenceRequest } from '../loop/inference/driver.ts';
import { requireDriver } from '../loop/inference/driver.ts';
import type { Hook, HookContext } from '../loop/hooks/hook.ts';
import type { ModelPrices } from '../loop/stopping/model-prices.ts';
import { pricedUsage, PRICES } from '../loop/stopping/model-prices.ts';
import { nextAction } from '../loop/stepper.ts';
import { SUMMARY_INSTRUCTIONS, summaryIn, textToSummarize } from './summary-text.ts';
import { charactersOf, estimateTokens } from './token-estimate.ts';

/** Who writes summaries, and when. */
export interface SummarizeOptions {
  /** Writes the summaries; it may be another than the loop's. */
  readonly driver: Driver;
  /** Which model writes them, and how; default: the driver's own choice. */
  readonly llmConfig?: LlmConfig;
  /**
   * Tokens a model may be shown before older messages are summarised: what the provider counted for the step before,
   * prompt and tools included, and characters / 4 for what it did not count. Choose it well above what prompt and tools
   * take, and within what the writing model can read.
   */
  readonly maxTokens: number;
  /** Tokens of the latest messages that stay as they are, by the same measure; default half of `maxTokens`. */
  readonly keepTokens?: number;
  /** What the writer is told to keep; there is a default. */
  readonly instructions?: string;
  /** What a model sees without a summary; default `conversationWithCurrentToolTrace()`. */
  readonly compiler?: MessageCompiler;
  /** What models cost: makes the cost of summaries known. */
  readonly prices?: ModelPrices;
  /**
   * Is told why a summary failed. The run goes on without it, and tries again before the next step; what this throws
   * ends the execution as anything that a hook throws.
   */
  readonly onError?: (error: unknown, context: HookContext) => void;
}

/** What a loop needs for summaries; both go into its options. */
export interface Summarization {
  /** Writes summaries. */
  readonly hook: Hook;
  /** Shows them. */
  readonly compiler: MessageCompiler;
}

export const SUMMARY_OPTIONS: OptionChecks<Omit<SummarizeOptions, 'compiler'>> = {
  driver: mustBe.anything, // see requireDriver
  llmConfig: mustBe.object,
  maxTokens: mustBe.required(mustBe.positive),
  keepTokens: mustBe.number(0),
  instructions: mustBe.string,
  prices: PRICES,
  onError: mustBe.function,
};

export const SUMMARY_ADVICE: Readonly<Record<string, string>> = {
  model: 'name it in llmConfig, as in llmConfig: { model: "openai:gpt-5-mini" }',
  prompt: 'write "instructions"',
  systemPrompt: 'write "instructions"',
};

const checkOptions = optionsCheck<SummarizeOptions>(
  'summarize',
  { ...SUMMARY_OPTIONS, compiler: mustBe.function },
  SUMMARY_ADVICE,
);

/** After the guards: nothing is summarised for a step that is not taken. After hooks that add messages. */
const LATE = -1_000;
const SUMMARY = 'summary';
/** In the metadata of a summary: the last message that it stands for. */
const THROUGH = 'summarized_through';

/**
 * Keeps what a model is shown within a number of tokens: beyond it, older messages are summarised by a model before the
 * next step, and shown as one message of the user in front of the latest ones. Calls and their results stay together,
 * and at least the last message, or call with its results, stays as it is.
 *
 * The stored conversation is not changed. The summary is in the section `summary`, and says in its metadata up to which
 * message it reaches, so another process goes on with it. Each new one takes in the one before and what has fallen out
 * since. When the conversation is rewritten so that this message is gone, the summary is not used any more.
 *
 * What a summary uses counts in the totals of the execution, and the limits are asked between the calls for its parts; it
 * is not a step.
 *
 * @example
 * const { hook, compiler } = summarize({ driver, llmConfig: { model: 'openai:gpt-5-mini' }, maxTokens: 50_000 });
 * const loop = createAgentLoop({ driver, hooks: [hook], compiler });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit: `maxTokens` is more
 * than 0, and `keepTokens` less than that.
 */
export function summarize(options: SummarizeOptions): Summarization {
  requireDriver(checkOptions(options).driver);
  const { maxTokens, keepTokens = maxTokens / 2, compiler = conversationWithCurrentToolTrace() } = options;
  if (keepTokens >= maxTokens)
    throw invalidArgument(`keepTokens must be less than maxTokens, found ${keepTokens} and ${maxTokens}.`);
  const hook = Object.freeze<Hook>({
    name: 'summarize',
    priority: LATE,
    beforeStep(state, context) {
      if (nextAction(state).type !== 'beginStep') return undefined;
      const parts = partsToSummarize(state, compiler, { maxTokens, keepTokens });
      return parts.length === 0 ? undefined : withSummaryOf(parts, state, options, context);
    },
  });
  return Object.freeze({ hook, compiler: summaryCompiler(compiler) });
}

/**
 * Shows the summary that a state has, and of the conversation what comes after it, as the compiler has it.
 * @throws TypeError `ARGUMENT_INVALID` for a compiler that is not a function.
 */
export function summaryCompiler(
  compiler: MessageCompiler = conversationWithCurrentToolTrace(),
): MessageCompiler {
  checkArgument('compiler of summaryCompiler', compiler, mustBe.function);
  return function compileSummarized(state) {
    const { summary, rest } = splitAtSummary(state);
    return withSummaryInFront(summary, compiler(rest));
  };
}

function withSummaryInFront(summary: Message | undefined, messages: Messages): Messages {
  return summary === undefined ? messages : List.from([summary, ...messages]);
}

/** A summary that applies, and the state with the messages that it does not stand for. */
function splitAtSummary(state: AgentState): { summary: Message | undefined; rest: AgentState } {
  const summary = state.store.section(SUMMARY).last;
  const through = summary?.metadata?.[THROUGH];
  if (typeof through !== 'string') return { summary: undefined, rest: state };
  const store = state.store.withoutSection(SUMMARY);
  const at = state.updatedAt;
  const { messages } = state;
  let end = messages.length;
  while (end > 0 && messages.at(end - 1)?.id !== through) end--;
  if (end === 0) return { summary: undefined, rest: state.withMessageStore(store, at) };
  const recent = List.from(messages.slice(end));
  return { summary, rest: state.withMessageStore(store.withChecked(CONVERSATION, recent), at) };
}

// What to summarise

/** A message that stands alone, or calls with their results. */
type Unit = readonly Message[];

/** What falls out of the view, in parts that a model can read at once; none while all fits. */
function partsToSummarize(
  state: AgentState,
  compiler: MessageCompiler,
  { maxTokens, keepTokens }: { readonly maxTokens: number; readonly keepTokens: number },
): readonly Unit[] {
  const { summary, rest } = splitAtSummary(state);
  const shown = compiler(rest);
  const view = withSummaryInFront(summary, shown);
  const tokens = estimateTokens(state, view);
  if (tokens <= maxTokens) return [];
  const charactersPerToken = charactersOf(view) / tokens;
  // Only what is in the conversation: a summary says up to which of its messages it reaches.
  const ids = new Set([...rest.messages].map(({ id }) => id));
  const units = unitsOf([...shown].filter(({ id }) => ids.has(id)));
  const falling = units.slice(0, firstKept(units, keepTokens * charactersPerToken));
  return groupUnits(falling, maxTokens * charactersPerToken);
}

function unitsOf(messages: readonly Message[]): readonly Unit[] {
  const units: Message[][] = [];
  for (const message of messages) {
    const last = units.at(-1);
    if (message.role === 'tool' && last) last.push(message);
    else units.push([message]);
  }
  return units;
}

/** The index of the first unit that stays: the last one at least. */
function firstKept(units: readonly Unit[], characters: number): number {
  let index = Math.max(0, units.length - 1);
  let size = charactersOf(units[index] ?? []);
  while (index > 0) {
    size += charactersOf(units[index - 1] as Unit);
    if (size > characters) break;
    index--;
  }
  return index;
}

/** The units run together, as long as they are not too large for one part. */
function groupUnits(units: readonly Unit[], characters: number): readonly Unit[] {
  const parts: Message[][] = [];
  let size = Infinity;
  for (const unit of units) {
    size += charactersOf(unit);
    if (size <= characters) parts.at(-1)?.push(...unit);
    else {
      parts.push([...unit]);
      size = charactersOf(unit);
    }
  }
  return parts;
}

// The summary

async function withSummaryOf(
  parts: readonly Unit[],
  before: AgentState,
  options: SummarizeOptions,
  context: HookContext,
): Promise<AgentState> {
  const { driver, llmConfig, prices, onError } = options;
  const { clock, signal } = context;
  let state = before;
  try {
    for (const part of parts) {
      if (await context.checkLimits(state)) break;
      const { summary: former } = splitAtSummary(state);
      const question = userMessage(textToSummarize(former, part), { clock });
      const request = summaryRequest(question, options);
      const response = InferenceResponse.of(await driver.infer(request, { signal, onDelta: undefined }));
      const modelId = driver.modelId?.(llmConfig) ?? llmConfig?.model;
      const usage = prices ? pricedUsage(response, prices, modelId) : response.usage;
      state = state.withOtherUsage(usage, clock.now());
      const metadata = { [THROUGH]: (part.at(-1) as Message).id };
      const summary = userMessage(summaryIn(response), { clock, metadata });
      state = state.withMessageStore(state.store.withSection(SUMMARY, [summary]), clock.now());
    }
  } catch (error) {
    if (!signal.aborted) onError?.(error, { ...context, state });
  }
  return state;
}

function summaryRequest(
  question: Message,
  { instructions = SUMMARY_INSTRUCTIONS, llmConfig }: SummarizeOptions,
): InferenceRequest {
  return {
    messages: List.from([question]),
    systemPrompt: instructions,
    tools: [],
    toolChoice: 'none',
    responseFormat: undefined,
    llmConfig,
  };
}
