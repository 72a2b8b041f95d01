import type {
  CreateDriver,
  DriverAbilities,
  ProviderReply,
  ProviderRequest,
  SentFile,
  SentPart,
} from '@holdfast/conformance';
import type { FilePart } from '@holdfast/core';
import {
  DriverError,
  type AssistantPart,
  type Driver,
  type DriverErrorKind,
  type InferenceRequest,
  type MessagePart,
  type ToolOutput,
} from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { fetchAbilities } from './fetch-harness.ts';

/** The abilities of a driver that is its own provider. It has no connection that could be cut. */
export const scriptedAbilities: DriverAbilities = {
  ...fetchAbilities,
  streaming: false,
  noise: false,
  disconnects: false,
  secrets: [],
  interruptions: [],
};

type Answer = Extract<ProviderReply, { type: 'answer' }>;

const KINDS: Readonly<Record<string, DriverErrorKind>> = {
  serverError: 'overloaded',
  unavailable: 'overloaded',
};

function scripted(reply: ProviderReply): ScriptedAnswer {
  switch (reply.type) {
    case 'answer':
      return responseOf(reply);
    case 'refusal': {
      const { refusal, retryAfterSeconds } = reply;
      const kind = KINDS[refusal] ?? (refusal as DriverErrorKind);
      return new DriverError(kind, 'The provider refuses.', { retryAfterSeconds });
    }
    case 'silence':
      return (_, { signal }) =>
        new Promise((_resolve, reject) => {
          reply.onAsked();
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
    case 'interruption':
    case 'noise':
    default:
      throw new Error(`A scripted driver has no reply of the type ${reply.type}.`);
  }
}

function responseOf({ reasoning, text = '', calls = [], finishReason, ...facts }: Answer): ScriptedAnswer {
  const isUnknown = finishReason === 'unknown';
  return {
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, name, arguments: input }) => callOf(id, name, input)),
    ],
    usage: facts.usage ?? {},
    responseId: facts.responseId,
    modelId: facts.modelId,
    ...(isUnknown && { rawFinishReason: 'paused_by_moon' }),
    ...(finishReason && { finishReason: isUnknown ? 'other' : finishReason }),
  };
}

function callOf(toolCallId: string, toolName: string, text: string): AssistantPart {
  const call = { type: 'tool-call', toolCallId, toolName } as const;
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: text, invalid: 'The arguments are not valid JSON.' };
  }
}

function sent(part: MessagePart, role: 'system' | 'user' | 'assistant' | 'tool'): readonly SentPart[] {
  switch (part.type) {
    case 'text':
      return role === 'tool' ? [] : [{ type: 'text', role, text: part.text }];
    case 'file':
      return [{ type: 'file', ...fileOf(part) }];
    case 'tool-call':
      return [
        { type: 'call', id: part.toolCallId, name: part.toolName, arguments: JSON.stringify(part.input) },
      ];
    case 'tool-result':
      return [{ type: 'result', id: part.toolCallId, ...resultOf(part.output) }];
    default:
      return [];
  }
}

function fileOf({ mediaType, data }: FilePart): SentFile {
  if (data.type === 'url') return { url: data.url };
  return data.type === 'data' ? { mediaType, data: data.data } : {};
}

function resultOf(output: ToolOutput): Omit<Extract<SentPart, { type: 'result' }>, 'type' | 'id'> {
  switch (output.type) {
    case 'execution-denied':
      return { text: `The call was denied. ${output.reason ?? ''}` };
    case 'content': {
      const files = output.value.flatMap((part) => (part.type === 'file' ? [fileOf(part)] : []));
      const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      return { text: texts.join('\n'), files };
    }
    case 'text':
    case 'json':
    case 'error-text':
    case 'error-json':
    default: {
      const isText = output.type === 'text' || output.type === 'error-text';
      const text = isText ? output.value : JSON.stringify(output.value);
      const isError = output.type.startsWith('error');
      return { text: isError ? `Error: ${text}` : text, isError };
    }
  }
}

function understood(request: InferenceRequest): ProviderRequest {
  const { systemPrompt, messages, tools, toolChoice, responseFormat, llmConfig } = request;
  const parts = messages
    .toArray()
    .flatMap(({ role, content }) => content.flatMap((part) => sent(part, role)));
  const start =
    systemPrompt === undefined ? [] : [{ type: 'text', role: 'system', text: systemPrompt } as const];
  return {
    content: [...start, ...parts],
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    toolChoice: tools.length > 0 ? toolChoice : undefined,
    responseFormat: responseFormat?.type === 'json' ? responseFormat : undefined,
    settings: llmConfig ?? {},
  };
}

/** Creates a driver of core that plays a script. The driver is its own provider. */
export const createDriver: CreateDriver = async (script) => {
  const played = scriptedDriver(...script.map(scripted));
  const driver: Driver = {
    async infer(request, options) {
      options.signal.throwIfAborted();
      return played.infer(request, options);
    },
  };
  return { driver, requests: () => played.requests.map(understood), close: async () => undefined };
};
