import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import {
  mustBe,
  optionsCheck,
  type Driver,
  type InferenceRequest,
  type InferenceResponse,
  type RequestForm,
} from '@holdfast/core/driver';
import type { CalledModel } from './values/called-model.ts';
import { ModelCall, type CallPolicy } from './call/model-call.ts';
import { formOf } from './forms/form-of.ts';
import { promptCacheOf, type PromptCache } from './cache/prompt-cache.ts';
import type { ObservedInference } from './call/observed-call.ts';
import { PromptBuilder } from './prompt/prompt-builder.ts';
import { PromptBuilders } from './prompt/prompt-builders.ts';
import { isHeaders, type HeadersOption } from './call/headers.ts';
import { checkTimeouts, type CallTimeouts } from './call/timeouts.ts';
import { onceEach } from './call/warnings.ts';
import { publicDownload, type Download } from './download/download.ts';
import { PromptFiles } from './prompt/prompt-files.ts';
import { isModelInstance, ModelResolver, type ModelRegistry } from './models/resolve-model.ts';
import { withDeferredCalls } from './response/convert-response.ts';
import { waitOnTimer, type Wait } from './call/retry.ts';

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
  /**
   * HTTP headers of every call, or a function that returns the headers of one call, such as a header for the tenant. The
   * driver calls the function once for a call, before its first attempt. Errors do not contain the values.
   */
  readonly headers?: HeadersOption;
  /** The time limits of an attempt. An attempt that exceeds a limit fails with the kind `timeout`. Default: no limits. */
  readonly timeouts?: CallTimeouts;
  /** The names of the response headers that steps store, such as those of rate limits. Default: none. */
  readonly responseHeaders?: readonly string[];
  /**
   * `auto` makes the provider cache the prompts: it marks tools, system prompt and history for Anthropic and Bedrock, and
   * sends a key to OpenAI and xAI. Default `off`: the caching that a provider does by itself.
   */
  readonly promptCache?: PromptCache;
  /**
   * Called with each warning of the AI SDK, such as a setting that a model does not support: once for each distinct
   * warning of a model. Default: no listener.
   */
  readonly onWarning?: (warning: SharedV4Warning, model: CalledModel) => void;
  /**
   * Downloads files that a model cannot fetch itself. The default downloads from public http(s) addresses only: it checks the
   * address of each connection.
   */
  readonly download?: Download;
  /**
   * True lets the default download fetch names on a platform without sockets, where it cannot check their addresses. Set it
   * only when the process reaches no private network. Default: it refuses names there, with `DOWNLOAD_UNCHECKED`.
   */
  readonly allowUncheckedDownloads?: boolean;
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
      expected: 'a language model or a model id, as in model: openai("gpt-5")',
      accepts: (value) => (typeof value === 'string' && value !== '') || isModelInstance(value),
    },
    registry: mustBe.objectWith('an object with languageModel(), as in registry: gateway', ['languageModel']),
    maxRetries: mustBe.wholeNumber(0),
    headers: mustBe.secret({
      expected: 'an object of strings or a function, as in headers: { "x-team": "support" }',
      accepts: (value) => mustBe.function.accepts(value) || isHeaders(value),
    }),
    timeouts: {
      expected: 'an object of seconds above 0, as in timeouts: { callSeconds: 300, firstChunkSeconds: 30 }',
      accepts: mustBe.object.accepts,
    },
    responseHeaders: mustBe.listOf('names of headers', mustBe.string.accepts),
    promptCache: {
      expected: '"off", "auto" or an object, as in promptCache: { ttl: "1h" }',
      accepts: (value) => value === 'off' || value === 'auto' || mustBe.object.accepts(value),
    },
    onWarning: mustBe.function,
    download: mustBe.function,
    allowUncheckedDownloads: mustBe.boolean,
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
    fallback: 'pass it to the loop, as in createAgentLoop({ driver, fallback: ["gpt-5-mini"] })',
    abortSignal: 'pass it to the run, as in loop.run(state, { signal })',
    system: 'set it in the state, as in AgentState.empty().withSystemPrompt("Be brief.")',
    timeout: 'use "timeouts", as in timeouts: { callSeconds: 300, firstChunkSeconds: 30 }',
  },
);

/**
 * Creates a driver that calls language models through the AI SDK. A request goes to the model that `llmConfig.model`
 * names, or else to `model`. Any number of agents can use one driver at the same time. The driver caches converted
 * messages while the messages exist. Of a call it remembers only whether the model refused marks for a prompt cache, or to
 * encrypt its reasoning.
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
  const { download, allowUncheckedDownloads: allowsUnchecked, maxDownloadBytes } = options;
  const files = new PromptFiles(download ?? publicDownload({ allowsUnchecked }), maxDownloadBytes);
  const builders = new PromptBuilders((model) => new PromptBuilder({ model, files }));

  async function infer(request: InferenceRequest, inference: ObservedInference): Promise<InferenceResponse> {
    inference.signal.throwIfAborted();
    const model = resolver.resolve(request.llmConfig?.model);
    const builder = builders.of(model);
    const build = () => builder.build(request.messages, request.systemPrompt, inference.signal);
    const response = await new ModelCall(model, policy, inference).answer(request, build);
    return withDeferredCalls(response, request.tools);
  }

  const modelId: Driver['modelId'] = (llmConfig) => resolver.modelId(llmConfig?.model);

  const forms = new WeakMap<object, RequestForm>();
  const form: Driver['formOf'] = (llmConfig) => {
    const model = resolver.find(llmConfig?.model);
    if (model === undefined) return undefined;
    const known = forms.get(model) ?? formOf(model);
    forms.set(model, known);
    return known;
  };

  return Object.freeze({ infer, modelId, formOf: form });
}

function policyOf({
  maxRetries = 2,
  wait = waitOnTimer,
  headers,
  timeouts,
  responseHeaders = [],
  promptCache,
  onWarning,
}: AiSdkDriverOptions): CallPolicy {
  return {
    maxRetries,
    wait,
    headers,
    timeouts: timeouts && checkTimeouts(timeouts),
    responseHeaders: responseHeaders.map((name) => name.toLowerCase()),
    cache: promptCacheOf(promptCache),
    onWarning: onWarning && onceEach(onWarning),
    refusals: new Set(),
  };
}
