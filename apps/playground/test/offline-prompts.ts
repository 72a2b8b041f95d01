import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider';
import { createOfflineModel } from '../src/offline-model.ts';

/** A tool and its input. */
export type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>];

/** The model under test, without pauses. */
export const model = createOfflineModel({ delayMs: 0 });

const required: Readonly<Record<string, readonly string[]>> = {
  calculator: ['expression'],
  notebook_write: ['name', 'text'],
  notebook_read: [],
  clock: [],
  send_parcel: ['to', 'item'],
  pay: ['to', 'amount'],
};

/** Tools by these names. */
export function offer(...names: readonly string[]): LanguageModelV4FunctionTool[] {
  return names.map((name) => ({
    type: 'function',
    name,
    inputSchema: { type: 'object', required: [...(required[name] ?? [])] },
  }));
}

/** All the tools of the playground. */
export const allTools = offer(...Object.keys(required));

/** A message of the user. */
export function user(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** An answer. */
export function assistant(text: string): LanguageModelV4Message {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

let calls = 0;

/** A tool call in the prompt, with what it came to. */
export function called(
  [toolName, input]: Call,
  output: LanguageModelV4ToolResultOutput,
): LanguageModelV4Message[] {
  calls += 1;
  const toolCallId = `earlier-${calls}`;
  return [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] },
  ];
}

/** A result that is an object. */
export function json(value: { readonly [key: string]: string | number }): LanguageModelV4ToolResultOutput {
  return { type: 'json', value };
}

/** What `notebook_read` returns for notes with these texts. */
export function notes(...texts: readonly string[]): LanguageModelV4ToolResultOutput {
  return { type: 'json', value: { notes: texts.map((text, index) => ({ name: `note-${index}`, text })) } };
}

/** Call options that differ from the defaults of `ask`. */
export type Options = Partial<LanguageModelV4CallOptions>;

/** The response to a message or a prompt, with its text and its calls taken out. */
export async function ask(prompt: string | LanguageModelV4Message[], options: Options = {}) {
  const messages = typeof prompt === 'string' ? [user(prompt)] : prompt;
  const result = await model.doGenerate({ prompt: messages, tools: allTools, ...options });
  return { ...result, text: textOf(result.content), calls: callsIn(result.content) };
}

/** The text of a response. */
export function textOf(content: readonly LanguageModelV4Content[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function callsIn(content: readonly LanguageModelV4Content[]): readonly Call[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' ? [[part.toolName, JSON.parse(part.input)] as const] : [],
  );
}
