import type { LanguageModelV4Message, SharedV4FileData } from '@ai-sdk/provider';
import type { Message, ToolContext } from '@holdfast/core';
import type { FileData } from '@holdfast/core/driver';
import { convertMessage, type SentFile, type SentFiles } from '../prompt/convert-message.ts';
import { heldFiles } from '../prompt/prompt-files.ts';

/** The second argument that the AI SDK passes to the functions of a tool. */
interface CallOptions {
  readonly toolCallId: string;
  /** The messages that the model received before it requested the call. */
  readonly messages: readonly LanguageModelV4Message[];
  readonly abortSignal: AbortSignal;
  readonly context: unknown;
}

type Facts = Pick<ToolContext, 'toolCallId' | 'signal' | 'state' | 'runContext'>;

/** Returns the options of a call. `messages` is converted when a tool reads it. */
export function callOptions(
  { toolCallId, signal, state, runContext }: Facts,
  context: unknown = runContext,
): CallOptions {
  return {
    toolCallId,
    abortSignal: signal,
    context,
    get messages() {
      const messages = state.currentStep?.input ?? state.messages;
      return messages.toArray().flatMap((message) => convertMessage(message, filesOf(message)) ?? []);
    },
  };
}

function filesOf(message: Message): SentFiles {
  return new Map(
    heldFiles(message).map(({ holder, data, mediaType }): [object, SentFile] => [
      holder,
      { data: sentFileData(data), mediaType },
    ]),
  );
}

/** Returns the content of a file in the form of the AI SDK. */
export function sentFileData(data: FileData): SharedV4FileData {
  if (data.type === 'url') return { type: 'url', url: new URL(data.url) };
  return data.type === 'reference' ? { type: 'reference', reference: { ...data.reference } } : data;
}
