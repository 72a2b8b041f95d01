import type { MessageCompiler } from '../loop/compile/compile-messages.ts';
import { estimateTokens, tokensOf } from '../loop/inference/token-estimate.ts';
import type { AgentState } from '../state/agent-state.ts';
import { CONVERSATION } from '../state/messages/message-store.ts';
import { SUMMARIZED_THROUGH, SUMMARY } from '../state/messages/message-tags.ts';
import type { Message, Messages } from '../state/messages/messages.ts';
import { List } from '../state/values/list.ts';

/** Returns the messages with the summary before them. */
export function withSummaryInFront(summary: Message | undefined, messages: Messages): Messages {
  return summary === undefined ? messages : List.from([summary, ...messages]);
}

/** The summary in use, and the state with the messages that it does not stand for. */
export function splitAtSummary(state: AgentState): { summary: Message | undefined; rest: AgentState } {
  const summary = state.store.section(SUMMARY).last;
  const through = summary?.metadata?.[SUMMARIZED_THROUGH];
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

/** A single message, or calls with their results. */
export type Unit = readonly Message[];

/** The limits of the messages that a model sees, in tokens. */
export interface SummaryLimits {
  readonly maxTokens: number;
  readonly keepTokens: number;
  /** The estimated tokens of the system prompt and the tools. */
  readonly startTokens: number;
  /** True when the provider has refused the messages: they are summarised below the limit too. */
  readonly isForced: boolean;
}

/** The messages to summarise. */
interface SummaryPlan {
  /** The messages to summarise, in parts that a model can read at once; empty while all messages fit. */
  readonly parts: readonly Unit[];
  /** The reason why no summary can help. */
  readonly obstacle?: string;
}

const ALL_FIT: SummaryPlan = { parts: [] };

/** Returns the messages to summarise, so that a model sees as few tokens as the limits say. */
export function summaryPlan(
  state: AgentState,
  compiler: MessageCompiler,
  limits: SummaryLimits,
): SummaryPlan {
  const { maxTokens, keepTokens, startTokens, isForced } = limits;
  const { summary, rest } = splitAtSummary(state);
  const shown = compiler(rest);
  const view = withSummaryInFront(summary, shown);
  const tokens = estimateTokens(state, view, startTokens);
  if (tokens <= maxTokens && !isForced) return ALL_FIT;
  if (startTokens >= maxTokens)
    return withoutEffect(limits, `the system prompt and the tools have about ${Math.ceil(startTokens)}`);
  // The provider has counted wrongly when it refused fewer tokens than its limit.
  const ratio = isForced ? 1 : tokensOf(view) / tokens;
  // Only messages of the conversation: a summary names the last of them that it stands for.
  const ids = new Set([...rest.messages].map(({ id }) => id));
  const units = unitsOf([...shown].filter(({ id }) => ids.has(id)));
  const falling = units.slice(0, firstKept(units, keepTokens * ratio));
  const summaryTokens = summary ? tokensOf([summary]) : 0;
  if (!isForced && falling.length > 0 && tokensOf(falling.flat()) <= summaryTokens)
    return withoutEffect(limits, `the last summary has about ${Math.ceil(summaryTokens)}`);
  return { parts: groupUnits(falling, maxTokens * ratio) };
}

function withoutEffect({ maxTokens }: SummaryLimits, found: string): SummaryPlan {
  const obstacle = `No summary can bring the messages below ${Math.floor(maxTokens)} tokens: ${found}, and the latest messages stay. Raise maxTokens, or use a model that takes more.`;
  return { parts: [], obstacle };
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

/** The index of the first unit that is not summarised; at least the last unit is not. */
function firstKept(units: readonly Unit[], tokens: number): number {
  let index = Math.max(0, units.length - 1);
  let size = tokensOf(units[index] ?? []);
  while (index > 0) {
    size += tokensOf(units[index - 1] as Unit);
    if (size > tokens) break;
    index--;
  }
  return index;
}

/** Joins the units into parts, as long as a part is not too large. */
function groupUnits(units: readonly Unit[], tokens: number): readonly Unit[] {
  const parts: Message[][] = [];
  let size = Infinity;
  for (const unit of units) {
    size += tokensOf(unit);
    if (size <= tokens) parts.at(-1)?.push(...unit);
    else {
      parts.push([...unit]);
      size = tokensOf(unit);
    }
  }
  return parts;
}
