import type { AgentState } from '../state/agent-state.ts';
import { List } from '../state/list.ts';
import { executionIdOf, isTrace } from '../state/message-tags.ts';
import type { Message, Messages, ToolCallPart, ToolResultPart } from '../state/messages.ts';
import { errorOutput } from '../state/tool-execution.ts';
import { messageOf, toolCallsOf } from '../state/messages.ts';

/** Chooses what a model sees of a state. The stored history is not changed. */
export type MessageCompiler = (state: AgentState) => Messages;

/**
 * The conversation, without the work of earlier executions that came to an answer: the answer is shown, the tool
 * calls and results that led to it are hidden. The work of the present execution is shown in full, and so is that of
 * one which ended without an answer: what it did is otherwise not said anywhere. The default.
 *
 * Costs as much as was added since the step before, however long the conversation is.
 */
export function conversationWithCurrentToolTrace(): MessageCompiler {
  return function compileConversation(state) {
    const { messages: source, executionId } = state;
    const earlier = earlierCompilation(state);
    const visible = withoutFinishedWork(earlier?.added ?? source.slice(), executionId);
    const { messages, isClosed } = withCallsAnswered(visible);
    const compiled = (earlier?.compiled ?? List.empty<Message>()).concat(messages);
    if (isClosed) compilations.set(compiled, { source, executionId });
    return compiled;
  };
}

/** Did the execution add the message, or nobody in particular? */
function isOwn(message: Message, executionId: string | undefined): boolean {
  const origin = executionIdOf(message);
  return origin === undefined || origin === executionId;
}

function withoutFinishedWork(
  messages: readonly Message[],
  executionId: string | undefined,
): readonly Message[] {
  const answered = new Set<string | undefined>();
  for (const message of messages) {
    if (message.role === 'assistant' && !isTrace(message)) answered.add(executionIdOf(message));
  }
  answered.delete(executionId);
  return messages.filter((message) => !isTrace(message) || !answered.has(executionIdOf(message)));
}

interface Compilation {
  readonly source: Messages;
  readonly executionId: string | undefined;
}

/** What a compiled list was made from, so that the next one can be made from it. */
const compilations = new WeakMap<Messages, Compilation>();

/** What was compiled for the step before, and what was added since; `undefined` when it is no beginning of this one. */
function earlierCompilation({
  lastStep,
  messages,
  executionId,
}: AgentState): { readonly compiled: Messages; readonly added: readonly Message[] } | undefined {
  const compiled = lastStep?.input;
  const known = compiled && compilations.get(compiled);
  if (compiled === undefined || known === undefined || known.executionId !== executionId) return undefined;
  const added = messages.since(known.source);
  return added?.every((message) => isOwn(message, executionId)) ? { compiled, added } : undefined;
}

/**
 * The messages with every tool call followed by its result and no result without its call, as providers demand.
 * A call whose result is missing (a crash, an abort) gets one that says so. Not closed: the last calls have none
 * yet, and a message that follows may still bring it.
 */
function withCallsAnswered(messages: readonly Message[]): {
  messages: readonly Message[];
  isClosed: boolean;
} {
  const result: Message[] = [];
  let open: readonly ToolCallPart[] = [];
  let asking: Message | undefined;
  const answerOpenCalls = (): void => {
    // The id follows from the message that asks, so that compiling twice gives the same.
    if (asking && open.length > 0)
      result.push(messageOf('tool', { id: asking.id, content: Object.freeze(open.map(missingResult)) }));
    open = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') {
      answerOpenCalls();
      result.push(message);
      asking = message;
      open = message.role === 'assistant' ? toolCallsOf(message) : [];
      continue;
    }
    const calls = open;
    const isAnswer = ({ toolCallId }: ToolResultPart): boolean =>
      calls.some((call) => call.toolCallId === toolCallId);
    const answers = message.content.filter(isAnswer);
    open = calls.filter((call) => !answers.some(({ toolCallId }) => toolCallId === call.toolCallId));
    if (answers.length === message.content.length) result.push(message);
    else if (answers.length > 0) result.push(Object.freeze({ ...message, content: Object.freeze(answers) }));
  }
  const isClosed = open.length === 0;
  answerOpenCalls();
  return { messages: result, isClosed };
}

function missingResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  return Object.freeze({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: errorOutput('No result was recorded.'),
  });
}
