import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, SharedV4Warning } from '@ai-sdk/provider';
import type { Driver, InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { mustBe, optionsCheck } from '@holdfast/core/driver';
import type { CalledModel, CallPolicy } from './model-call.ts';
import { ModelCall } from './model-call.ts';
import { PromptBuilder } from './prompt-builder.ts';
import type { Download } from './prompt-files.ts';
import { PromptFiles } from './prompt-files.ts';
import type { ModelRegistry } from './resolve-model.ts';
import { isModelInstance, ModelResolver } from './resolve-model.ts';
import type { Wait } from './retry.ts';
import { waitOnTimer } from './retry.ts';

/** How a driver calls models. Every member may be left out. */
export interface AiSdkDriverOptions {
  /** The model of calls whose LLM configuration names none: a model of any AI SDK provider, or a model id. */
  readonly model?: LanguageModelV4 | LanguageModelV3 | LanguageModelV2 | string;
  /**
   * Finds models by id: the `gateway` of the AI SDK, the result of `createProviderRegistry`, or a provider. Default:
   * `globalThis.AI_SDK_DEFAULT_PROVIDER`; without that, a call that names a model by id fails.
   */
  readonly registry?: ModelRegistry;
  /** How often a call that failed before it answered is made again; default 2. */
  readonly maxRetries?: number;
  /** Sent with every call. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `auto` marks the system prompt and the end of the conversation for Anthropic's cache; default `off`. */
  readonly promptCache?: 'off' | 'auto';
  /** Is told what a model could not do as asked. Default: nobody is. */
  readonly onWarning?: (warning: SharedV4Warning, model: CalledModel) => void;
  /** Fetches files that a model cannot fetch itself. Default: from public http(s) addresses only. */
  readonly download?: Download;
  /** How large a downloaded file may be, in bytes; default 50 MiB. */
  readonly maxDownloadBytes?: number;
  /** Waits between attempts; default: a timer. */
  readonly wait?: Wait;
}

const MODEL = 'give the model, as in aiSdkDriver({ model: openai("gpt-5") })';
const SETTINGS = 'the state has it, as in state.withLlmConfig({ temperature: 0 })';
const TOOLS = 'the loop has them, as in createAgentLoop({ driver, tools })';

const checkOptions = optionsCheck<AiSdkDriverOptions>(
  'aiSdkDriver',
  {
    model: {
      expected: 'a model or the id of one, as in model: openai("gpt-5")',
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
    provider: 'give a registry, as in registry: gateway, or the model itself',
    apiKey: 'the provider has it, as in model: createOpenAI({ apiKey })("gpt-5")',
    baseURL: 'the provider has it, as in model: createOpenAI({ baseURL })("gpt-5")',
    temperature: SETTINGS,
    maxOutputTokens: SETTINGS,
    providerOptions: SETTINGS,
    tools: TOOLS,
    system: 'the state has it, as in AgentState.empty().withSystemPrompt("Be brief.")',
    timeout: 'pass a signal to the run, as in loop.run(state, { signal: AbortSignal.timeout(30_000) })',
  },
);

/**
 * A driver that calls language models through the AI SDK. Each call goes to the model that `llmConfig.model`
 * names, else to `model`. One driver may serve any number of agents at the same time; it keeps converted messages
 * for as long as the messages live, and nothing else of a call.
 *
 * `infer` throws a `DriverError` when there is no answer, and the signal's reason when that aborts the call before
 * anything arrived.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit.
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
