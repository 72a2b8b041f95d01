import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { AiSdkDriverError } from '../errors/driver-error.ts';
import { upgradeModel, type EarlierModel } from './upgrade-model.ts';

type ModelInstance = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** Finds models by id: a registry or any provider of the AI SDK. */
export interface ModelRegistry {
  /** Returns the model with an id. Throws for an unknown id. */
  languageModel(modelId: string): LanguageModelV2 | LanguageModelV3 | LanguageModelV4;
}

/** The sources of models. */
export interface ModelSource {
  readonly model?: ModelInstance | string | undefined;
  readonly registry?: ModelRegistry | undefined;
}

/**
 * Finds the model of a call, and upgrades models of earlier specifications to V4. Asks the registry for each call,
 * because a registry may change its models.
 */
export class ModelResolver {
  private readonly model: ModelInstance | string | undefined;
  private readonly registry: ModelRegistry | undefined;
  private readonly upgraded = new WeakMap<ModelInstance, LanguageModelV4>();

  constructor({ model, registry }: ModelSource) {
    this.model = model;
    this.registry = registry;
  }

  /** Returns the model with an id, or without an id the model of the driver. @throws AiSdkDriverError for an unknown model. */
  resolve(modelId: string | undefined): LanguageModelV4 {
    const wanted = modelId ?? this.model;
    if (wanted === undefined) throw noModel();
    if (typeof wanted !== 'string') return this.upToDate(wanted);
    if (!this.registry && isModelInstance(this.model) && this.model.modelId === wanted)
      return this.upToDate(this.model);
    return this.named(wanted);
  }

  /** Returns what `resolve` returns, or `undefined` for an unknown model. */
  find(modelId: string | undefined): LanguageModelV4 | undefined {
    try {
      return this.resolve(modelId);
    } catch {
      return undefined; // the call itself reports the error
    }
  }

  /** The id of the model that `resolve` would return for `wanted`; `undefined` without a model. */
  modelId(wanted: string | undefined): string | undefined {
    return wanted ?? (isModelInstance(this.model) ? this.model.modelId : this.model);
  }

  private named(modelId: string): LanguageModelV4 {
    const registry = this.registry ?? defaultProvider();
    if (!registry) throw noRegistry(modelId);
    let model: ModelInstance;
    try {
      model = registry.languageModel(modelId);
    } catch (error) {
      throw notFound(modelId, this.registry !== undefined, error);
    }
    if (!isModelInstance(model)) throw notFound(modelId, this.registry !== undefined, undefined);
    return this.upToDate(model);
  }

  private upToDate(model: ModelInstance): LanguageModelV4 {
    if (model.specificationVersion === 'v4') return model;
    const known = this.upgraded.get(model);
    if (known) return known;
    const upgraded = upgrade(model);
    this.upgraded.set(model, upgraded);
    return upgraded;
  }
}

/** True for a language model of any specification. From v2 on, models of images, speech or transcriptions have no `supportedUrls`. */
export function isModelInstance(model: unknown): model is ModelInstance {
  if (typeof model !== 'object' || model === null) return false;
  const { doGenerate, specificationVersion } = model as { readonly [name: string]: unknown };
  return typeof doGenerate === 'function' && ('supportedUrls' in model || specificationVersion === 'v1');
}

/** The provider of the process, in which the AI SDK looks up model ids too. */
function defaultProvider(): ModelRegistry | undefined {
  const provider: unknown = Reflect.get(globalThis, 'AI_SDK_DEFAULT_PROVIDER');
  return isRegistry(provider) ? provider : undefined;
}

function isRegistry(value: unknown): value is ModelRegistry {
  const isObject = typeof value === 'function' || (typeof value === 'object' && value !== null);
  return isObject && 'languageModel' in value;
}

function upgrade(model: EarlierModel): LanguageModelV4 {
  const version: unknown = model.specificationVersion;
  if (version === 'v2' || version === 'v3') return upgradeModel(model);
  const message = `Model "${model.modelId}" has the unsupported specification ${String(version)}. Use a model with v2, v3 or v4.`;
  throw new AiSdkDriverError('invalidRequest', message, {
    modelId: model.modelId,
    isRetryable: false,
    attempts: 0,
  });
}

function noModel(): AiSdkDriverError {
  const message =
    'Neither the driver nor the model settings name a model. Pass the option "model" to the driver, or set llmConfig.model.';
  return new AiSdkDriverError('modelNotFound', message, { modelId: 'none', isRetryable: false, attempts: 0 });
}

function noRegistry(modelId: string): AiSdkDriverError {
  const message =
    `The driver has no registry in which to look up the model "${modelId}". Pass a model, or a registry such as ` +
    '`registry: gateway` from the package @ai-sdk/gateway.';
  return new AiSdkDriverError('modelNotFound', message, { modelId, isRetryable: false, attempts: 0 });
}

function notFound(modelId: string, hasRegistry: boolean, cause: unknown): AiSdkDriverError {
  const place = hasRegistry ? 'the registry of the driver' : 'the default provider of the AI SDK';
  const advice = hasRegistry
    ? 'Add the model to the registry, or use a model id of the registry.'
    : 'Pass a registry that has the model, or pass the model itself.';
  const message = `Unknown model "${modelId}" in ${place}. ${advice}`;
  return new AiSdkDriverError(
    'modelNotFound',
    message,
    { modelId, isRetryable: false, attempts: 0 },
    { cause },
  );
}
