import type { Message, ToolCallPart } from '@holdfast/core';
import type { AssistantMessage, ToolMessage, UserMessage } from '@holdfast/core/driver';
import { executionIdOf } from '@holdfast/core/engine';
import type { UIMessage } from 'ai';
import { addContent, addStep, userParts } from './content-parts.ts';
import { DATA_PARTS, withDataParts } from './data-parts.ts';
import { numberedId } from './message-ids.ts';
import { recordResult, type ToolPartState } from './tool-part.ts';
import type { PartOptions, UIPart } from './ui-part.ts';

/** The messages of one execution, as one UI message that still grows. */
interface Group {
  readonly id: string;
  /** The execution, or the id of a message of no execution. */
  readonly key: string;
  readonly parts: UIPart[];
}

/** A user message after the last assistant message. It is not known yet whether the execution continues after it. */
interface NewUserMessage {
  readonly shown: UIMessage;
  readonly executionId: string | undefined;
  /** The step that was open when the message was added. The messages of the step stand behind it. */
  readonly stepId: string | undefined;
}

/** The UI messages of a conversation, with the last execution apart, because it may continue. */
export interface FoldedConversation {
  /** The UI messages before the last execution. */
  readonly before: readonly UIMessage[];
  /** The last execution, with the user messages that it used on its way; `undefined` before the first one. */
  readonly last: { readonly id: string; readonly key: string; readonly parts: readonly UIPart[] } | undefined;
  /** The user messages after it. */
  readonly after: readonly UIMessage[];
  /** The user messages that were added while the open step was open. They stand behind its parts. */
  readonly duringStep: readonly UIPart[];
}

/** Folds a conversation into UI messages, one message at a time. */
export class ConversationFold {
  private readonly options: PartOptions;
  private readonly before: UIMessage[] = [];
  private readonly ids = new Set<string>();
  private last: Group | undefined;
  private unread: NewUserMessage[] = [];

  constructor(options: PartOptions) {
    this.options = options;
  }

  /** Adds the next message. System messages are instructions to the model, and are not shown. */
  add(message: Message): void {
    if (message.role === 'user') this.addUserMessage(message);
    else if (message.role === 'assistant') this.addStep(message);
    else if (message.role === 'tool') this.addResults(message);
  }

  /**
   * Returns the UI messages. `active`: the id of the execution that continues, which can have no message yet; `openStepId`:
   * the id of its open step.
   */
  folded(active: string | undefined, openStepId: string | undefined): FoldedConversation {
    const { last, before } = this;
    const duringStep = this.unread.filter(isDuring(openStepId)).map(steeringPart);
    const { steering, others } = this.splitUnread(active, openStepId);
    const after = others.map(({ shown }) => shown);
    if (last === undefined) return { before: [...before, ...after], last, after: [], duringStep };
    const parts = [...last.parts, ...steering.map(steeringPart)];
    return { before, last: { ...last, parts }, after, duringStep };
  }

  /** Returns an id that no UI message has: the id itself, unless the conversation repeats it. */
  freeId(id: string): string {
    let free = id;
    for (let count = 2; this.ids.has(free); count++) free = numberedId(id, count);
    return free;
  }

  private addUserMessage(message: UserMessage): void {
    const { content, metadata = {} } = message;
    const {
      execution_id: executionId,
      step_id: stepId,
      agent_id: _agent,
      is_trace: _trace,
      [DATA_PARTS]: dataParts,
      ...own
    } = metadata;
    const shown: UIMessage = Object.freeze({
      id: this.takeId(message.id),
      role: message.role,
      ...(Object.keys(own).length > 0 && { metadata: own }),
      parts: withDataParts(userParts(content, this.options), dataParts),
    });
    this.unread.push({ shown, executionId: textOf(executionId), stepId: textOf(stepId) });
  }

  private addStep(message: AssistantMessage): void {
    const key = executionIdOf(message) ?? message.id;
    const stepId = stepIdOf(message);
    const duringStep = this.unread.filter(isDuring(stepId)).map(steeringPart);
    const { parts } = this.groupFor(key, stepId);
    const options = { ...this.options, stepId, stateOf: withoutResult };
    addStep(parts, () => addContent(parts, message.content, options));
    parts.push(...duringStep);
  }

  private addResults(message: ToolMessage): void {
    const { parts = [] } = this.last ?? {};
    for (const result of message.content) recordResult(parts, result, stepIdOf(message), this.options);
  }

  /** Returns the UI message to which the next step of an execution belongs. */
  private groupFor(key: string, stepId: string): Group {
    const { steering, others } = this.splitUnread(key, stepId);
    this.unread = [];
    const { last } = this;
    last?.parts.push(...steering.map(steeringPart));
    if (last?.key === key && others.length === 0) return last;
    if (last) this.before.push(messageOf(last));
    this.before.push(...others.map(({ shown }) => shown));
    this.last = { id: this.takeId(key), key, parts: [] };
    return this.last;
  }

  /**
   * Separates the user messages that the last execution used on its way. A message without the tag of an execution
   * belongs to the execution that continues. Messages that were added during the next step are omitted.
   */
  private splitUnread(
    next: string | undefined,
    stepId: string | undefined,
  ): {
    readonly steering: readonly NewUserMessage[];
    readonly others: readonly NewUserMessage[];
  } {
    const { last } = this;
    const isLater = isDuring(stepId);
    const unread = this.unread.filter((message) => !isLater(message));
    const isOther = ({ executionId = next }: NewUserMessage) =>
      last === undefined || executionId !== last.key;
    const first = unread.findIndex(isOther);
    const count = first === -1 ? unread.length : first;
    return { steering: unread.slice(0, count), others: unread.slice(count) };
  }

  private takeId(id: string): string {
    const free = this.freeId(id);
    this.ids.add(free);
    return free;
  }
}

function isDuring(step: string | undefined): (message: NewUserMessage) => boolean {
  return ({ stepId }) => stepId !== undefined && stepId === step;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf({ id, parts }: Group): UIMessage {
  Object.freeze(parts);
  return Object.freeze({ id, role: 'assistant', parts });
}

type SteeringPart = Extract<UIPart, { readonly type: 'steering-message' }>;

function steeringPart({ shown }: NewUserMessage): SteeringPart {
  const parts = shown.parts.filter((part) => part.type === 'text' || part.type === 'file');
  return Object.freeze({ type: 'steering-message', id: shown.id, parts });
}

/** The state of a call before its result is read. A closed step has a result of each call. */
function withoutResult({ input }: ToolCallPart): ToolPartState {
  return { state: 'output-error', input, errorText: 'No result was recorded.' };
}

function stepIdOf({ id, metadata }: Message): string {
  return textOf(metadata?.['step_id']) ?? id;
}
