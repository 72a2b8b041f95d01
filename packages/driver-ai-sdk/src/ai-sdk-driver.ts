import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import type { Driver, InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { mustBe, optionsCheck } from '@holdfast/core/driver';
import type { CalledModel, CallPolicy } from './call/model-call.ts';
import { ModelCall } from './call/model-call.ts';
import { PromptBuilder } from './prompt/prompt-builder.ts';
import type { Download } from './prompt/prompt-files.ts';
import { PromptFiles } from './prompt/prompt-files.ts';
import type { ModelRegistry } from './models/resolve-model.ts';
import { isModelInstance, ModelResolver } from './models/resolve-model.ts';
import type { Wait } from './call/retry.ts';
import { waitOnTimer } from './call/retry.ts';

/** The options of `aiSdkDriver`. All of them are optional. */
export interface AiSdkDriverOptions {
  /** The model of requests whose model settings name no model: a model of any AI SDK provider, or a model id. */
  readonly model?: LanguageModelV4 | LanguageModelV3 | LanguageModelV2 | string;
  /**
   * Finds models by id: the `gateway` of the AI SDK, the result of `createProviderRegistry`, or a provider. Default:
   * `globalThis.AI_SDK_DEFAULT_PROVIDER`. Without a registry and a default provider, a request for a model id fails.
   */
  readonly registry?: ModelRegistry;
  /** The number of retries of a call that failed before a response arrived; default 2. */
  readonly maxRetries?: number;
  /** HTTP headers of every call. Errors do not contain their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `auto` marks the system prompt and the last message for the prompt cache of Anthropic; default `off`. */
  readonly promptCache?: 'off' | 'auto';
  /** Called with each warning of the AI SDK, such as a setting that a model does not support. Default: no listener. */
  readonly onWarning?: (warning: SharedV4Warning, model: CalledModel) => void;
  /** Downloads files that a model cannot fetch itself. The default downloads from public http(s) addresses only. */
  readonly download?: Download;
  /** The size limit of a downloaded file in bytes; default 50 MiB. */
  readonly maxDownloadBytes?: number;
  /** Waits between two attempts; default: a timer. */
  readonly wait?: Wait;
}

const MODEL = 'use "model", as in aiSdkDriver({ model: openai("gpt-5") })';
const SETTINGS = 'set it in the state, as in state.withLlmConfig({ temperature: 0 })';
const TOOLS = 'pass the tools to the loop, as in createAgentLoop({ driver, tools })';

const checkOptions = optionsCheck<AiSdkDriverOptions>(
  'aiSdkDriver',
  {
    model: {
      expected: 'a model or a model id, as in model: openai("gpt-5")',
      accepts: (value) => (typeof value === 'string' && value !== '') || isModelInstance(value),
    },
    registry: mustBe.objectWith('an object with languageModel(), as in registry: gateway', ['languageModel']),
    maxRetries: mustBe.wholeNumber(0),
    headers: mustBe.secret({
      expected: 'an object of strings, as in headers: { "x-team": "support" }',
      accepts: (value) =>
        mustBe.object.accepts(value) && Object.values(value as object).every(mustBe.string.accepts),
    }),
    promptCache: mustBe.oneOf(['off', 'auto']),
    onWarning: mustBe.function,
    download: mustBe.function,
    maxDownloadBytes: mustBe.number(0),
    wait: mustBe.function,
  },
  {
    modelId: MODEL,
    specificationVersion: MODEL,
    provider: 'use "registry", as in registry: gateway, or pass a model',
    apiKey: 'pass it to the provider, as in model: createOpenAI({ apiKey })("gpt-5")',
    baseURL: 'pass it to the provider, as in model: createOpenAI({ baseURL })("gpt-5")',
    temperature: SETTINGS,
    maxOutputTokens: SETTINGS,
    providerOptions: SETTINGS,
    tools: TOOLS,
    system: 'set it in the state, as in AgentState.empty().withSystemPrompt("Be brief.")',
    timeout: 'pass a signal to the run, as in loop.run(state, { signal: AbortSignal.timeout(30_000) })',
  },
);

/**
 * Creates a driver that calls language models through the AI SDK. A request goes to the model that `llmConfig.model`
 * names, or else to `model`. Any number of agents can use one driver at the same time. The driver caches converted
 * messages while the messages exist, and caches nothing else of a call.
 *
 * `infer` throws a `DriverError` when no response arrives, and the signal's reason when the signal aborts the call before
 * a part of the response arrives.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 * @example
 * const loop = createAgentLoop({ driver: aiSdkDriver({ model: openai('gpt-5') }), tools });
 */
export function aiSdkDriver(options: AiSdkDriverOptions = {}): Driver {
  const policy = policyOf(checkOptions(options));
  const resolver = new ModelResolver(options);
  const files = new PromptFiles(options.download, options.maxDownloadBytes);
  const builders = new WeakMap<LanguageModelV4, PromptBuilder>();

  async function infer(request: InferenceRequest, inference: InferenceOptions): Promise<InferenceResponse> {
    inference.signal.throwIfAborted();
    const model = resolver.resolve(request.llmConfig?.model);
    let builder = builders.get(model);
    if (builder === undefined) {
      builder = new PromptBuilder({ model, files, promptCache: options.promptCache ?? 'off' });
      builders.set(model, builder);
    }
    const prompt = builder.build(request.messages, request.systemPrompt, inference.signal);
    return new ModelCall(model, policy, inference).answer(request, prompt);
  }

  const modelId: Driver['modelId'] = (llmConfig) => resolver.modelId(llmConfig?.model);

  return Object.freeze({ infer, modelId });
}

function policyOf({
  maxRetries = 2,
  wait = waitOnTimer,
  headers,
  onWarning,
}: AiSdkDriverOptions): CallPolicy {
  return { maxRetries, wait, headers, onWarning };
}
