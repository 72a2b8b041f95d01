import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { AgentState, JsonObject, Message, ToolCallPart } from '@holdfast/core';
import {
  DriverError,
  List,
  type Driver,
  type InferenceRequest,
  type RequestForm,
} from '@holdfast/core/driver';
import type { ModelRegistry } from '@holdfast/driver-ai-sdk';
import type { Arena } from '../../src/conversations/arena.ts';
import { arenaDriver } from '../../src/conversations/play.ts';

/** One repair taken away. `rule`: a refusal that then occurs at `server`. */
export interface Removal {
  readonly server: string;
  readonly rule: RegExp;
  /** Makes a laxer form. */
  readonly form?: (form: RequestForm) => RequestForm;
  /** Undoes a repair in a request. */
  readonly request?: (request: InferenceRequest, state: AgentState) => InferenceRequest;
  /** Changes the options of a call. */
  readonly call?: (
    options: LanguageModelV4CallOptions,
    request: InferenceRequest,
  ) => LanguageModelV4CallOptions;
  /** Changes the error of a call. */
  readonly error?: (error: unknown) => unknown;
}

const ANY_NAME = { characters: '\\s\\S', maxLength: 10_000 };

/** A form with laxer demands. `undefined`: without the demand. */
function lax(
  server: string,
  rule: RegExp,
  demands: { readonly [Member in keyof RequestForm]?: RequestForm[Member] | undefined },
): Removal {
  const form = (given: RequestForm): RequestForm => {
    const members = Object.entries({ ...given, ...demands }).filter(([, value]) => value !== undefined);
    return {
      ...Object.fromEntries(members),
      name: `${given.name} without a demand`,
    } as unknown as RequestForm;
  };
  return { server, rule, form };
}

/**
 * The demands of a form, each taken away. A member of the form that is not here does not compile.
 */
const demands: Readonly<Record<Exclude<keyof RequestForm, 'name'>, Removal>> = {
  toolName: lax('anthropic', /name/, { toolName: ANY_NAME }),
  callId: lax('anthropic', /call-id/, { callId: ANY_NAME }),
  takesBlankTexts: lax('anthropic', /text-(?:blank|empty)|content-empty/, { takesBlankTexts: true }),
  takesLaterSystemMessages: lax('togetherai', /system/, { takesLaterSystemMessages: true }),
  takesFirstAnswer: lax('acme', /first-role/, { takesFirstAnswer: true }),
  takesLastAnswer: lax('google (2.5)', /last-role/, { takesLastAnswer: true }),
  takesUserMessagesInARow: lax('zai', /alternation/, { takesUserMessagesInARow: true }),
  takesUserMessageAfterResults: lax('mistral', /user-after-tool/, { takesUserMessageAfterResults: true }),
  takesReasoning: lax('cerebras', /reasoning-content/, { takesReasoning: true }),
  ownCallIds: lax('moonshotai', /answered/, { ownCallIds: '' }),
  optionNames: lax('google-vertex', /parts/, { optionNames: undefined }),
  boundOptions: lax('other server (Responses)', /item-reasoned|references/, { boundOptions: [] }),
  ownCallsNeedReasoning: lax('openai (stored)', /item-reasoned|references/, { ownCallsNeedReasoning: false }),
  files: lax('anthropic', /image|base64|file/, { files: undefined }),
  filesNeedText: lax('ollama', /content/, { filesNeedText: false }),
  omitsFileNames: lax('amazon-bedrock', /document-name/, { omitsFileNames: false }),
  takesSingleCalls: lax('deepseek (Responses)', /adjacent/, { takesSingleCalls: false }),
  declaresCalledTools: lax('google', /result-declared/, { declaresCalledTools: false }),
  textBeforeCalls: lax('lmstudio', /content/, { textBeforeCalls: undefined }),
  reasoningBeforeCalls: lax('moonshotai', /reasoning/, { reasoningBeforeCalls: undefined }),
  callOptions: lax('google', /package\/repaired/, { callOptions: undefined }),
};

type Change = (message: Message, said: Message | undefined) => Message;

/** Changes the messages of a request. `said`: the message as the state has it. */
function changed(server: string, rule: RegExp, change: Change): Removal {
  return {
    server,
    rule,
    request(request, state) {
      const said = new Map(
        state.store.sections
          .flatMap(({ messages }) => messages.toArray())
          .map((message) => [message.id, message]),
      );
      const messages = request.messages.toArray().map((message) => change(message, said.get(message.id)));
      return { ...request, messages: List.from(messages) };
    },
  };
}

/** The messages of one role, as they were said. */
function restored(role: Message['role'], server: string, rule: RegExp): Removal {
  const said: Change = (message, before) =>
    before?.role === role && message.role === role ? before : message;
  return changed(server, rule, said);
}

/** The system messages, as they were said. The repair omits some, which stand at the start again. */
const withSystem: NonNullable<Removal['request']> = (request, { messages }) => {
  const said = messages.toArray().filter(({ role }) => role === 'system');
  const others = request.messages.toArray().filter(({ role }) => role !== 'system');
  return { ...request, messages: List.from([...said, ...others]) };
};

/** The repair of each role, taken away. */
const roles: Readonly<Record<Message['role'], Removal>> = {
  system: { server: 'anthropic', rule: /surrogates|text/, request: withSystem },
  user: restored('user', 'anthropic', /text|base64|image|INVALID_REQUEST/),
  assistant: restored('assistant', 'anthropic', /call|name|text|input/),
  tool: restored('tool', 'google (2.5)', /same-count|tool-name|called|result/),
};

function unrepaired<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('\ufffd', String.raw`\ud83d`)) as Value;
}

function withRawInput(part: ToolCallPart): ToolCallPart {
  const { invalid: _, ...call } = part;
  return { ...call, input: 'text' };
}

const withRawArguments: Change = (message) =>
  message.role === 'assistant'
    ? { ...message, content: message.content.map((part) => ('invalid' in part ? withRawInput(part) : part)) }
    : message;

const withAllReasoning: Change = (message, said) => {
  if (message.role !== 'assistant' || said?.role !== 'assistant') return message;
  const reasoning = said.content.filter(({ type }) => type === 'reasoning');
  return {
    ...message,
    content: [...reasoning, ...message.content.filter(({ type }) => type !== 'reasoning')],
  };
};

const THINKING: JsonObject = { type: 'enabled', budgetTokens: 1024 };

function withoutEmptySignatures(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.map((part) => {
    if (part.providerOptions?.['anthropic']?.['signature'] !== '') return part;
    const { providerOptions: _, ...unsigned } = part;
    return unsigned;
  });
  return { ...message, content };
}

/** The repairs that belong to no role and to no demand of a form, each taken away. */
const others: Readonly<Record<string, Removal>> = {
  'surrogates in messages': changed('anthropic', /surrogates/, unrepaired),
  'surrogates in tools': {
    server: 'anthropic',
    rule: /surrogates/,
    request: (request) => ({ ...request, tools: unrepaired(request.tools) }),
  },
  'the system prompt': {
    server: 'anthropic',
    rule: /surrogates|text/,
    request: (request, { systemPrompt }) => ({ ...request, systemPrompt }),
  },
  arguments: changed('vllm', /arguments/, withRawArguments),
  'reasoning of this execution only': changed(
    'anthropic (bound thinking)',
    /thinking|signature/,
    withAllReasoning,
  ),
  'thinking off': {
    server: 'anthropic (budget)',
    rule: /leading-thinking/,
    call: (options) => ({
      ...options,
      providerOptions: { ...options.providerOptions, anthropic: { thinking: THINKING } },
    }),
  },
  'signed thinking': {
    server: 'deepseek (Messages)',
    rule: /deepseek-anthropic\/thinking/,
    call: (options) => ({ ...options, prompt: options.prompt.map(withoutEmptySignatures) }),
  },
  'the choice of the last step': {
    server: 'amazon-bedrock (bound thinking)',
    rule: /bound-thinking/,
    call: (options, { toolChoice }) =>
      toolChoice === 'none' ? { ...options, toolChoice: { type: 'none' } } : options,
  },
  'the repetition in the strictest form': {
    server: 'acme',
    rule: /reasoning-content/,
    error: (error) => (error instanceof DriverError ? new DriverError('unknown', error.message) : error),
  },
};

/** The repairs, each taken away, by name. */
export const removals: readonly (readonly [name: string, removal: Removal])[] = [
  demands,
  roles,
  others,
].flatMap((each) => Object.entries<Removal>(each));

/** A driver with one repair less. */
export function driverWithout(removal: Removal, { registry, warnings }: Arena): Driver {
  const { form, request, error, call } = removal;
  let sent: InferenceRequest;
  const change = call && ((options: LanguageModelV4CallOptions) => call(options, sent));
  const driver = arenaDriver({ registry: change ? calling(registry, change) : registry, warnings });
  return {
    ...driver,
    formOf: (llmConfig) => {
      const given = driver.formOf?.(llmConfig);
      return given && form ? form(given) : given;
    },
    async infer(given, options) {
      sent = given;
      try {
        const state = options.run?.state;
        return await driver.infer(request && state ? request(given, state) : given, options);
      } catch (thrown) {
        throw error ? error(thrown) : thrown;
      }
    },
  };
}

function calling(
  registry: ModelRegistry,
  change: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): ModelRegistry {
  return {
    languageModel(id) {
      const model = registry.languageModel(id) as LanguageModelV4;
      return new Proxy(model, {
        get(target, name) {
          if (name === 'doGenerate' || name === 'doStream')
            return (options: LanguageModelV4CallOptions) => target[name](change(options));
          return Reflect.get(target, name, target) as unknown;
        },
      });
    },
  };
}
