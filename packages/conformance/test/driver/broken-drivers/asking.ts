import type { LlmConfig, Message } from '@holdfast/core';
import { List, type InferenceRequest, type MessagePart, type ToolOutput } from '@holdfast/core/driver';
import { asking, conversing, inferring, saying, telling, type Defect } from './driver-parts.ts';

const settings = (change: (config: LlmConfig) => LlmConfig | undefined): Defect =>
  asking(({ llmConfig }) => ({ llmConfig: llmConfig && change(llmConfig) }));

function without(config: LlmConfig, name: keyof LlmConfig): LlmConfig {
  return Object.fromEntries(Object.entries(config).filter(([each]) => each !== name));
}

const requests: Readonly<Record<string, Defect>> = {
  'never sends the tool choice': asking(() => ({ toolChoice: 'auto' })),
  'requires any tool instead of one': asking(({ toolChoice }) => ({
    toolChoice: typeof toolChoice === 'object' ? 'required' : toolChoice,
  })),
  'requires a tool whenever there are tools': asking(({ tools, toolChoice }) => ({
    toolChoice: tools.length > 0 && toolChoice === 'auto' ? 'required' : toolChoice,
  })),
  'ignores model settings': asking(() => ({ llmConfig: undefined })),
  'ignores settings except the model': settings(({ model }) => (model === undefined ? {} : { model })),
  'drops settings that are zero': settings((config) =>
    Object.fromEntries(Object.entries(config).filter(([, value]) => value !== 0)),
  ),
  'drops stop sequences': settings((config) => without(config, 'stopSequences')),
  'calls one model only': settings((config) => without(config, 'model')),
  'uses the settings of the last call': (sound) => {
    let last: LlmConfig | undefined;
    return {
      ...sound,
      infer(request, options) {
        last = request.llmConfig ?? last;
        return sound.infer({ ...request, llmConfig: last }, options);
      },
    };
  },
  'sends no input schemas': asking(({ tools }) => ({
    tools: tools.map((tool) => ({ ...tool, inputSchema: { type: 'object' } })),
  })),
  'sends no descriptions of tools': asking(({ tools }) => ({
    tools: tools.map((tool) => ({ ...tool, description: '' })),
  })),
  'sorts tools': asking(({ tools }) => ({
    tools: tools.toSorted((left, right) => (left.name < right.name ? -1 : 1)),
  })),
  'drops tools': asking(() => ({ tools: [] })),
  'drops tools beside a response format': asking(({ tools, responseFormat }) => ({
    tools: responseFormat ? [] : tools,
  })),
  'drops the response format': asking(() => ({ responseFormat: undefined })),
  'drops the name of the response format': asking(({ responseFormat: format }) => {
    if (format?.type !== 'json') return {};
    const { name: _, ...rest } = format;
    return { responseFormat: rest };
  }),
  'drops a response format without a schema': asking(({ responseFormat: format }) => ({
    responseFormat: format?.type === 'json' && format.schema === undefined ? undefined : format,
  })),
  'asks for JSON with every response format': asking(({ responseFormat: format }) => ({
    responseFormat: format?.type === 'text' ? { type: 'json' } : format,
  })),
  'writes into its request': inferring((infer, request, options) => {
    for (const tool of request.tools) Object.assign(tool, { strict: true });
    return infer(request, options);
  }),
  'sends a tool of its own': asking(({ tools }) => ({
    tools: [...tools, { name: 'noop', description: 'Does nothing.', inputSchema: { type: 'object' } }],
  })),
};

const nothing = (output: ToolOutput): ToolOutput => ({ ...output, type: 'text', value: '' });

const isFile = (part: MessagePart): boolean => part.type === 'file';

const results: Readonly<Record<string, Defect>> = {
  'drops results': conversing((messages) => messages.filter(({ role }) => role !== 'tool')),
  'sends the name of a result only': telling((output) =>
    'value' in output ? { type: 'text', value: output.type } : output,
  ),
  'says nothing of denied calls': telling((output) =>
    output.type === 'execution-denied' ? nothing(output) : output,
  ),
  'drops the reason of a denial': telling((output) =>
    output.type === 'execution-denied' ? { type: 'execution-denied' } : output,
  ),
  'tells errors as results': telling((output) => {
    if (output.type === 'error-text') return { type: 'text', value: output.value };
    return output.type === 'error-json' ? { type: 'json', value: output.value } : output;
  }),
  'tells results as errors': telling((output) =>
    output.type === 'json' ? { type: 'error-json', value: output.value } : output,
  ),
  'says nothing of errors': telling((output) => (output.type.startsWith('error') ? nothing(output) : output)),
  'sends results that are false as nothing': telling((output) =>
    'value' in output && !output.value ? nothing(output) : output,
  ),
  'drops the names in JSON results': telling((output) =>
    output.type === 'json'
      ? { type: 'text', value: JSON.stringify(output.value).replaceAll(/"\w+":/g, '') }
      : output,
  ),
  'sends the first part of a result only': telling((output) =>
    output.type === 'content' ? { type: 'content', value: output.value.slice(0, 1) } : output,
  ),
};

const files: Readonly<Record<string, Defect>> = {
  'drops images': saying((part) => (isFile(part) ? [{ type: 'text', text: 'An image.' }] : [part])),
  'drops images in results': telling((output) =>
    output.type === 'content'
      ? { type: 'content', value: output.value.filter(({ type }) => type !== 'file') }
      : output,
  ),
  'drops files that are no images': saying((part) =>
    part.type === 'file' && !part.mediaType.startsWith('image/')
      ? [{ type: 'text', text: 'A file.' }]
      : [part],
  ),
  'sends the images of the last message only': conversing((messages) =>
    messages.map((message, at) => {
      const isLast = at === messages.length - 1;
      if (message.role !== 'user' || isLast) return message;
      return { ...message, content: message.content.filter((part) => !isFile(part)) };
    }),
  ),
  'sends images behind texts': conversing((messages) =>
    messages.map((message) => {
      if (message.role !== 'user') return message;
      const { content } = message;
      return {
        ...message,
        content: content.toSorted((left, right) => Number(isFile(left)) - Number(isFile(right))),
      };
    }),
  ),
  'sends every image as JPEG': saying((part) => [
    part.type === 'file' && part.mediaType.startsWith('image/') && part.data.type === 'data'
      ? { ...part, mediaType: 'image/jpeg', data: { ...part.data, data: `/9j/${part.data.data.slice(4)}` } }
      : part,
  ]),
  'sends URLs as text': saying((part) =>
    part.type === 'file' && part.data.type === 'url' ? [{ type: 'text', text: part.data.url }] : [part],
  ),
};

const histories: Readonly<Record<string, Defect>> = {
  'drops the system prompt': asking(() => ({ systemPrompt: undefined })),
  'drops system messages of the conversation': conversing((messages) =>
    messages.filter(({ role }) => role !== 'system'),
  ),
  'sends system messages first': conversing((messages) =>
    messages.toSorted((left, right) => Number(right.role === 'system') - Number(left.role === 'system')),
  ),
  'sends reasoning as text': saying((part) => [
    part.type === 'reasoning' ? { type: 'text', text: part.text } : part,
  ]),
  'drops the texts of the model': saying((part, { role }) =>
    role === 'assistant' && part.type === 'text' ? [] : [part],
  ),
  'drops the arguments of earlier calls': saying((part) => [
    part.type === 'tool-call' ? { ...part, input: {} } : part,
  ]),
  'drops earlier calls with invalid arguments': saying((part) =>
    part.type === 'tool-call' && part.invalid !== undefined ? [] : [part],
  ),
  'sends the last message only': conversing((messages) => messages.slice(-1)),
  'sends the messages of earlier requests': (sound) => {
    const before: Message[] = [];
    return {
      ...sound,
      infer(request, options) {
        before.push(...request.messages);
        return sound.infer({ ...request, messages: List.from(before) }, options);
      },
    };
  },
  'reuses a conversation of the same length': (sound) => {
    const known = new Map<number, InferenceRequest['messages']>();
    return {
      ...sound,
      infer(request, options) {
        const messages = known.get(request.messages.length) ?? request.messages;
        known.set(messages.length, messages);
        return sound.infer({ ...request, messages }, options);
      },
    };
  },
};

/** Defects in what a driver sends. */
export const askingDefects: Readonly<Record<string, Defect>> = {
  ...requests,
  ...results,
  ...files,
  ...histories,
};
