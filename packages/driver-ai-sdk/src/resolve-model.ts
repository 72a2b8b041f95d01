import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import type { LanguageModel } from 'ai';
import { DriverError } from './driver-error.ts';

type ModelInstance = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** Finds models by id: a registry or any provider of the AI SDK. */
export interface ModelRegistry {
  /** The model with an id; throws when there is none. */
  languageModel(modelId: string): LanguageModelV2 | LanguageModelV3 | LanguageModelV4;
}

/** Where models come from. */
export interface ModelSource {
  readonly model?: LanguageModel | undefined;
  readonly registry?: ModelRegistry | undefined;
}

/** Finds the model of a call, and brings models of earlier specifications up to the present one. */
export class ModelResolver {
  private readonly model: LanguageModel | undefined;
  private readonly registry: ModelRegistry | undefined;
  private readonly byId = new Map<string, LanguageModelV4>();
  private readonly upgraded = new WeakMap<ModelInstance, LanguageModelV4>();

  constructor({ model, registry }: ModelSource) {
    this.model = model;
    this.registry = registry;
  }

  /** The model with an id, else the one the driver was made with. @throws DriverError when there is none. */
  async resolve(modelId: string | undefined): Promise<LanguageModelV4> {
    const wanted = modelId ?? this.model;
    if (wanted === undefined) throw noModel();
    if (typeof wanted !== 'string') return this.upToDate(wanted);
    if (!this.registry && isInstance(this.model) && this.model.modelId === wanted)
      return this.upToDate(this.model);
    const known = this.byId.get(wanted);
    if (known) return known;
    const model = await this.find(wanted);
    if (this.registry) this.byId.set(wanted, model);
    return model;
  }

  /** The id of the model that a call with this id goes to, as far as it has one. */
  modelId(wanted: string | undefined): string | undefined {
    return wanted ?? (isInstance(this.model) ? this.model.modelId : this.model);
  }

  private async find(modelId: string): Promise<LanguageModelV4> {
    let model: ModelInstance;
    try {
      model = (this.registry ?? (await defaultProvider())).languageModel(modelId);
    } catch (error) {
      throw notFound(modelId, this.registry !== undefined, error);
    }
    if (!isInstance(model)) throw notFound(modelId, this.registry !== undefined, undefined);
    return this.upToDate(model);
  }

  private async upToDate(model: ModelInstance): Promise<LanguageModelV4> {
    if (model.specificationVersion === 'v4') return model;
    const known = this.upgraded.get(model);
    if (known) return known;
    const upgraded = await upgrade(model);
    this.upgraded.set(model, upgraded);
    return upgraded;
  }
}

function isInstance(model: LanguageModel | undefined): model is ModelInstance {
  return typeof model === 'object' && model !== null && typeof model.doGenerate === 'function';
}

/** Where the AI SDK sends model ids: the default provider of the process, else the gateway. */
async function defaultProvider(): Promise<ModelRegistry> {
  return globalThis.AI_SDK_DEFAULT_PROVIDER ?? (await import('ai')).gateway;
}

/** `ai` is loaded when it is first needed: it is large. It prints a warning for each V2 model; that is held back. */
async function upgrade(model: ModelInstance): Promise<LanguageModelV4> {
  const version: unknown = model.specificationVersion;
  if (version !== 'v2' && version !== 'v3') {
    const message = `The model "${model.modelId}" follows specification ${String(version)}. Use v2, v3 or v4.`;
    throw new DriverError(message, { modelId: model.modelId, isRetryable: false, attempts: 0 });
  }
  const { wrapLanguageModel } = await import('ai');
  const logger = globalThis.AI_SDK_LOG_WARNINGS;
  globalThis.AI_SDK_LOG_WARNINGS = false;
  try {
    return wrapLanguageModel({ model, middleware: [] });
  } finally {
    globalThis.AI_SDK_LOG_WARNINGS = logger;
  }
}

function noModel(): DriverError {
  const message = 'There is no model to call. Give the driver a model, or name one in the LLM configuration.';
  return new DriverError(message, { modelId: 'none', isRetryable: false, attempts: 0 });
}

function notFound(modelId: string, hasRegistry: boolean, cause: unknown): DriverError {
  const place = hasRegistry ? 'the registry of the driver' : 'the default provider of the AI SDK';
  const advice = hasRegistry
    ? 'Add it to the registry, or name one that is in it.'
    : 'Give the driver a registry that knows it, or pass the model itself.';
  const message = `The model "${modelId}" was not found in ${place}. ${advice}`;
  return new DriverError(message, { modelId, isRetryable: false, attempts: 0 }, { cause });
}
