import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';

/** The outcome of a tool call. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failure'; readonly message: string }
  | { readonly kind: 'denied'; readonly reason: string | undefined };

/** A tool call that stands in the prompt; without an outcome it was never answered. */
export interface PastCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly outcome: Outcome | undefined;
}

/** A message of the user, and what happened until the next one. */
export interface Turn {
  /** The text of the user, up to `MAX_QUESTION`; several messages in a row are one question. */
  readonly question: string;
  readonly calls: readonly PastCall[];
  /** The text of the assistant after its last tool result; empty without such text. */
  readonly answer: string;
}

/** The most characters of a question that the rules read, so that a long text costs as little as a short one. */
const MAX_QUESTION = 2_000;

/** The turns of a prompt, oldest first; the last turn waits for its answer. System messages belong to no turn. */
export function readTurns(prompt: LanguageModelV4Prompt): readonly Turn[] {
  return prompt.reduce<readonly Turn[]>(withMessage, []);
}

function withMessage(turns: readonly Turn[], message: LanguageModelV4Message): readonly Turn[] {
  const current = turns.at(-1) ?? { question: '', calls: [], answer: '' };
  const earlier = turns.slice(0, -1);
  switch (message.role) {
    case 'user': {
      const text = textOf(message.content);
      const isUntouched = current.calls.length === 0 && current.answer === '';
      const question = isUntouched ? [current.question, text].filter(Boolean).join('\n') : text;
      const start = question.slice(0, MAX_QUESTION).toWellFormed();
      return isUntouched
        ? [...earlier, { ...current, question: start }]
        : [...turns, { question: start, calls: [], answer: '' }];
    }
    case 'assistant':
    case 'tool':
      return [...earlier, withParts(current, message)];
    default:
      return turns;
  }
}

type Answering = Extract<LanguageModelV4Message, { role: 'assistant' | 'tool' }>;

function withParts(turn: Turn, message: Answering): Turn {
  let { calls, answer } = turn;
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        answer += part.text;
        break;
      case 'tool-call':
        calls = [
          ...calls,
          { id: part.toolCallId, tool: part.toolName, input: part.input, outcome: undefined },
        ];
        answer = '';
        break;
      case 'tool-result':
        calls = calls.map((call) =>
          call.id === part.toolCallId ? { ...call, outcome: outcomeOf(part) } : call,
        );
        answer = '';
        break;
      default:
        break;
    }
  }
  return { ...turn, calls, answer };
}

function outcomeOf({ output }: LanguageModelV4ToolResultPart): Outcome {
  switch (output.type) {
    case 'json':
      return { kind: 'value', value: output.value };
    case 'text':
      return { kind: 'value', value: parsedIfJson(output.value) };
    case 'content':
      return { kind: 'value', value: parsedIfJson(textOf(output.value)) };
    case 'error-text':
      return { kind: 'failure', message: output.value };
    case 'error-json':
      return { kind: 'failure', message: messageIn(output.value) };
    case 'execution-denied':
      return { kind: 'denied', reason: output.reason };
    default:
      return { kind: 'failure', message: 'the result came in a form that I do not know' };
  }
}

/** The text parts, joined; other parts are omitted. */
function textOf(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts
    .map((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : ''))
    .filter(Boolean)
    .join('\n');
}

function parsedIfJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function messageIn(value: unknown): string {
  const message = typeof value === 'object' && value !== null && 'message' in value ? value.message : value;
  return typeof message === 'string' ? message : JSON.stringify(value);
}
