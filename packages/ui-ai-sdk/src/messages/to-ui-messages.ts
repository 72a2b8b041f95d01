import type { AgentState, Message } from '@holdfast/core';
import type { PartialResponse } from '@holdfast/core/channel';
import { LineageCache, mustBe, optionsCheck, type List } from '@holdfast/core/driver';
import type { ExecutionSummary } from '@holdfast/core/store';
import type { UIMessage } from 'ai';
import { ConversationFold } from './conversation-fold.ts';
import { executionMetadata, summaryMetadata, type ExecutionMetadata } from './execution-metadata.ts';
import { addOpenStep } from './open-step.ts';
import type { PartOptions, UIPart } from './ui-part.ts';

/** Options of `toUIMessages`. */
export interface ToUIMessagesOptions {
  /** The response that the model writes now, as a view of `SessionWatcher` has it. */
  readonly partial?: PartialResponse | undefined;
  /**
   * True for a tool whose calls are `dynamic-tool` parts. Default: the calls of each tool are `tool-NAME` parts. Pass the
   * same function each time: another function maps the whole conversation again.
   */
  readonly isDynamicTool?: (toolName: string) => boolean;
  /**
   * True when parts have the data that providers attached to them, such as signatures. Default: false, because a page
   * needs none of it. Custom parts have it in any case.
   */
  readonly hasProviderMetadata?: boolean;
  /** Returns the metadata of an execution's message; `undefined` for none. Default: all facts. */
  readonly metadataOf?: (execution: ExecutionMetadata) => object | undefined;
  /** The summaries of earlier executions, by id: their messages then have metadata too, without the model. */
  readonly executions?: ReadonlyMap<string, ExecutionSummary>;
}

const checkOptions = optionsCheck<ToUIMessagesOptions>('toUIMessages', {
  partial: mustBe.object,
  isDynamicTool: mustBe.function,
  hasProviderMetadata: mustBe.boolean,
  metadataOf: mustBe.function,
  executions: mustBe.object,
});

/** A conversation that was folded before, for states that grow from it. */
interface Folded {
  readonly options: PartOptions;
  readonly fold: ConversationFold;
  readonly list: List<Message>;
}

/** `undefined` while a conversation is folded, and after `isDynamicTool` has thrown. */
const conversations = new LineageCache<Folded | undefined>();

/**
 * Returns the conversation of a state as UI messages of the AI SDK, the open step included. All that one execution added
 * is one message with the id of the execution. A user message has its own id. A user message that an execution used on
 * its way is a `steering-message` part of its message. System messages are omitted.
 *
 * Equal states give equal messages, in any process. A state that grew by a step costs that step: earlier messages and
 * parts are the same frozen objects. Copy a message before you pass it to a function that changes it, such as
 * `readUIMessageStream`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function toUIMessages(state: AgentState, options: ToUIMessagesOptions = {}): UIMessage[] {
  const { partial, executions, ...rest } = checkOptions(options);
  const { isDynamicTool = isNeverDynamic, hasProviderMetadata = false, metadataOf = allFacts } = rest;
  const partOptions = { isDynamicTool, hasProviderMetadata };
  const fold = foldOf(state.messages, partOptions);
  const { executionId, hasActiveExecution, currentStep } = state;
  const active = hasActiveExecution ? executionId : undefined;
  const { before, last, after, duringStep } = fold.folded(active, currentStep?.id);
  const isLast = last?.key === executionId;
  const isLastOpen = isLast && after.length === 0;
  const metadata = metadataFor(state, metadataOf);
  const open: UIPart[] = isLastOpen ? [...(last?.parts ?? [])] : [];
  addOpenStep(open, state, partial, partOptions);
  open.push(...duringStep);
  const messages = [...before];
  if (last && !isLastOpen)
    messages.push(assistantMessage(last.id, last.parts, isLast ? metadata : undefined));
  messages.push(...after);
  if (open.length > 0 && executionId !== undefined) {
    const id = isLastOpen && last ? last.id : fold.freeId(executionId);
    messages.push(assistantMessage(id, open, metadata));
  }
  return executions ? messages.map((message) => withSummary(message, executions, metadataOf)) : messages;
}

/** Returns the fold of a conversation. Only messages that were appended since the last call are added. */
function foldOf(list: List<Message>, options: PartOptions): ConversationFold {
  const known = conversations.get(list);
  const isKnown = known !== undefined && isSameOptions(known.options, options);
  const added = isKnown ? list.since(known.list) : undefined;
  const fold = isKnown && added ? known.fold : new ConversationFold(options);
  conversations.set(list, undefined);
  for (const message of added ?? list) fold.add(message);
  conversations.set(list, { options, fold, list });
  return fold;
}

function isSameOptions(one: PartOptions, other: PartOptions): boolean {
  return one.isDynamicTool === other.isDynamicTool && one.hasProviderMetadata === other.hasProviderMetadata;
}

function assistantMessage(id: string, parts: readonly UIPart[], metadata: object | undefined): UIMessage {
  const shown = Object.freeze([...parts]);
  return Object.freeze({ id, role: 'assistant', ...(metadata && { metadata }), parts: shown as UIPart[] });
}

function metadataFor(
  state: AgentState,
  metadataOf: (execution: ExecutionMetadata) => object | undefined,
): object | undefined {
  const execution = executionMetadata(state);
  return execution && metadataOf(execution);
}

function withSummary(
  message: UIMessage,
  executions: ReadonlyMap<string, ExecutionSummary>,
  metadataOf: (execution: ExecutionMetadata) => object | undefined,
): UIMessage {
  const summary = executions.get(message.id);
  if (summary === undefined || message.role !== 'assistant' || message.metadata !== undefined) return message;
  const metadata = metadataOf(summaryMetadata(summary));
  return metadata ? Object.freeze({ ...message, metadata }) : message;
}

function isNeverDynamic(): boolean {
  return false;
}

function allFacts(execution: ExecutionMetadata): ExecutionMetadata {
  return execution;
}
