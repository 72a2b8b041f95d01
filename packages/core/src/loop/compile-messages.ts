import type { AgentState } from '../state/agent-state.ts';
import { List } from '../state/list.ts';
import { executionIdOf, isTrace } from '../state/message-tags.ts';
import type { Message, Messages, ToolCallPart, ToolResultPart } from '../state/messages.ts';
import { toolCallsOf, toolMessage } from '../state/messages.ts';

/** Chooses what a model sees of a state. The stored history is not changed. */
export type MessageCompiler = (state: AgentState) => Messages;

/**
 * The conversation, without the work of earlier executions: their tool calls and results are hidden, their answers
 * shown; the work of the present execution is shown in full. The default.
 *
 * Costs as much as was added since the step before, however long the conversation is.
 */
export function conversationWithCurrentToolTrace(): MessageCompiler {
  return function compileConversation(state) {
    const { messages: source, executionId } = state;
    const earlier = earlierCompilation(state);
    const added = earlier && source.since(earlier.source);
    const start = earlier && added ? earlier.compiled : List.empty<Message>();
    const visible = (added ?? source.slice()).filter(
      (message) => !isTrace(message) || executionIdOf(message) === executionId,
    );
    const { messages, isClosed } = withCallsAnswered(visible);
    const compiled = start.concat(messages);
    if (isClosed) compilations.set(compiled, { source, executionId });
    return compiled;
  };
}

interface Compilation {
  readonly source: Messages;
  readonly executionId: string | undefined;
}

/** What a compiled list was made from, so that the next one can be made from it. */
const compilations = new WeakMap<Messages, Compilation>();

function earlierCompilation(state: AgentState): (Compilation & { readonly compiled: Messages }) | undefined {
  const compiled = state.lastStep?.input;
  const known = compiled && compilations.get(compiled);
  return known && known.executionId === state.executionId ? { ...known, compiled } : undefined;
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
    if (asking && open.length > 0) result.push(toolMessage(open.map(missingResult), { id: asking.id }));
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
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: 'error-text', value: 'No result was recorded.' },
  };
}
