import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { AgentState, Message, ToolCallPart } from '@holdfast/core';
import {
  DriverError,
  List,
  type Driver,
  type InferenceRequest,
  type RequestForm,
} from '@holdfast/core/driver';
import type { ModelRegistry } from '@holdfast/driver-ai-sdk';
import { arenaDriver } from '../../src/conversations/play.ts';

/** One repair taken away. `rule`: a refusal that then occurs at `server`. */
export interface Removal {
  readonly name: string;
  readonly server: string;
  readonly rule: RegExp;
  /** Makes a laxer form. */
  readonly form?: (form: RequestForm) => RequestForm;
  /** Undoes a repair in a request. */
  readonly request?: (request: InferenceRequest, state: AgentState) => InferenceRequest;
  /** Changes the options of a call. */
  readonly call?: (options: LanguageModelV4CallOptions) => LanguageModelV4CallOptions;
  /** Changes the error of a call. */
  readonly error?: (error: unknown) => unknown;
}

const ANY_NAME = { characters: '\\s\\S', maxLength: 10_000 };

function lax(name: string, server: string, rule: RegExp, demands: Partial<RequestForm>): Removal {
  return {
    name,
    server,
    rule,
    form: (form) => ({ ...form, ...demands, name: `${form.name} without ${name}` }),
  };
}

function without(member: keyof RequestForm, server: string, rule: RegExp): Removal {
  const form = (given: RequestForm): RequestForm => {
    const { [member]: _, ...others } = given;
    return { ...others, name: `${given.name} without ${member}` } as RequestForm;
  };
  return { name: member, server, rule, form };
}

type Change = (message: Message, said: Message | undefined) => Message;

/** Changes the messages of a request. `said`: the message as the state has it. */
function changed(name: string, server: string, rule: RegExp, change: Change): Removal {
  return {
    name,
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

function restored(role: Message['role']): Change {
  return (message, said) => (said?.role === role && message.role === role ? said : message);
}

const withSurrogates: Change = (message) =>
  JSON.parse(JSON.stringify(message).replaceAll('\ufffd', String.raw`\ud83d`)) as Message;

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

function withThinking(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const thinking = { type: 'enabled', budgetTokens: 1024 };
  return { ...options, providerOptions: { ...options.providerOptions, anthropic: { thinking } } };
}

/** The repairs, each taken away. */
export const removals: readonly Removal[] = [
  lax('legal names', 'anthropic', /name/, { toolName: ANY_NAME }),
  lax('legal ids', 'anthropic', /call-id/, { callId: ANY_NAME }),
  lax('omitted blank texts', 'anthropic', /text-(?:blank|empty)|content-empty/, { takesBlankTexts: true }),
  lax('system messages at the start', 'togetherai', /system/, { takesLaterSystemMessages: true }),
  lax('a first message of the user', 'acme', /first-role/, { takesFirstAnswer: true }),
  lax('joined messages of the user', 'zai', /alternation/, { takesUserMessagesInARow: true }),
  lax('an answer after results', 'mistral', /user-after-tool/, { takesUserMessageAfterResults: true }),
  lax('omitted reasoning', 'cerebras', /reasoning-content/, { takesReasoning: true }),
  lax('omitted ids of items', 'other server (Responses)', /item-reasoned|references/, { boundOptions: [] }),
  lax('texts before files', 'amazon-bedrock', /document-text/, {
    filesNeedText: false,
    omitsFileNames: false,
  }),
  lax('calls right before results', 'deepseek (Responses)', /adjacent/, { takesSingleCalls: false }),
  lax('declared tools', 'google', /result-declared/, { declaresCalledTools: false }),
  without('textBeforeCalls', 'lmstudio', /content/),
  without('reasoningBeforeCalls', 'moonshotai', /reasoning/),
  without('files', 'anthropic', /image-bytes-match/),
  changed('surrogates', 'anthropic', /surrogates/, withSurrogates),
  changed('arguments', 'vllm', /arguments/, withRawArguments),
  changed('words of users', 'anthropic', /text|base64|image|INVALID_REQUEST/, restored('user')),
  changed('answers', 'anthropic', /call|name|text|input/, restored('assistant')),
  changed('results', 'google (2.5)', /same-count|tool-name|called|result/, restored('tool')),
  changed(
    'reasoning of this execution only',
    'anthropic (bound thinking)',
    /thinking|signature/,
    withAllReasoning,
  ),
  { name: 'thinking off', server: 'anthropic (budget)', rule: /leading-thinking/, call: withThinking },
  {
    name: 'the repetition in the strictest form',
    server: 'acme',
    rule: /reasoning-content/,
    error: (error) => (error instanceof DriverError ? new DriverError('unknown', error.message) : error),
  },
];

/** A driver with one repair less. */
export function driverWithout(removal: Removal, registry: ModelRegistry): Driver {
  const { form, request, error, call } = removal;
  const driver = arenaDriver({ registry: call ? calling(registry, call) : registry });
  return {
    ...driver,
    formOf: (llmConfig) => {
      const given = driver.formOf?.(llmConfig);
      return given && form ? form(given) : given;
    },
    async infer(given, options) {
      try {
        const state = options.run?.state;
        return await driver.infer(request && state ? request(given, state) : given, options);
      } catch (thrown) {
        throw error ? error(thrown) : thrown;
      }
    },
  };
}

function calling(registry: ModelRegistry, change: NonNullable<Removal['call']>): ModelRegistry {
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
