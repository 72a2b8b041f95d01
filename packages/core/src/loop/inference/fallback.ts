import { mustBe, optionsCheck, type ArgumentCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { Instant } from '../../clock.ts';
import type { ExecutionFallback, LlmConfig } from '../../state/inference/llm-config.ts';
import { isSameSettings } from '../../state/inference/request.ts';
import {
  DRIVER_ERROR_KINDS,
  driverFailureOf,
  REMEDIABLE_KINDS,
  type DriverErrorKind,
} from './driver-error.ts';

/**
 * The models that the loop calls when the agent's own model fails. Between two pauses it calls each model at most once.
 */
export interface FallbackOptions {
  /**
   * The models in the order in which they are called: the id of a model, or settings that replace those of the agent.
   * No two have the same id.
   */
  readonly models: readonly (string | LlmConfig)[];
  /** The kinds of failures that switch the model. Default: all kinds except failures of the request itself. */
  readonly on?: readonly DriverErrorKind[];
  /** Seconds until the loop calls the agent's own model again; default 300. */
  readonly forSeconds?: number;
}

/** A model of the list. */
type FallbackModel = LlmConfig & { readonly model: string };

const KIND = mustBe.oneOf(DRIVER_ERROR_KINDS);
const MODELS: ArgumentCheck = {
  expected: 'models, as in ["gpt-5-mini", { model: "claude-haiku-4-5" }]',
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isModel),
};

const checkFallback = optionsCheck<FallbackOptions>('fallback', {
  models: mustBe.required(MODELS),
  on: mustBe.listOf(`kinds of failures (${KIND.expected})`, KIND.accepts),
  forSeconds: mustBe.seconds,
});

/** Selects the fallback model of an execution. */
export class Fallback {
  private readonly models: readonly FallbackModel[];
  private readonly kinds: ReadonlySet<DriverErrorKind>;
  private readonly milliseconds: number;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(given: FallbackOptions | FallbackOptions['models']) {
    const {
      models,
      on = REMEDIABLE_KINDS,
      forSeconds = 300,
    } = checkFallback(isList(given) ? { models: given } : given);
    this.models = distinct(
      models.map((model) => (typeof model === 'string' ? { model } : requireModel(model))),
    );
    this.kinds = new Set(on);
    this.milliseconds = forSeconds * 1_000;
  }

  /**
   * The fallback that the next call uses; `undefined` for the agent's own model. While the open step repeats a failed
   * call, the fallback is the position in the list, so its time does not end.
   */
  inUse({ execution }: AgentState, now: Instant): FallbackModel | undefined {
    const { fallback, currentStep } = execution ?? {};
    if (fallback === undefined) return undefined;
    const hasFailed = currentStep !== undefined && currentStep.inferenceFailures.length > 0;
    if (fallback.until <= now && !hasFailed) return undefined;
    return this.models.find(({ model }) => model === fallback.model);
  }

  /**
   * The fallback to use after a failed call of the model `used`; `undefined` when the failure does not switch the model,
   * or no model remains. A model with the settings of the agent is not called again.
   */
  after(
    thrown: unknown,
    used: FallbackModel | undefined,
    { llmConfig }: AgentState,
    now: Instant,
  ): ExecutionFallback | undefined {
    if (!this.kinds.has(driverFailureOf(thrown).kind)) return undefined;
    const place = used === undefined ? 0 : this.models.indexOf(used) + 1;
    const next = this.models
      .slice(place)
      .find((model) => !isSameSettings({ ...llmConfig, ...model }, llmConfig));
    return next && Object.freeze({ model: next.model, until: Math.ceil(now + this.milliseconds) });
  }
}

/** @throws RangeError `ARGUMENT_INVALID` for two models with the same id: the state names a fallback by its id. */
function distinct(models: readonly FallbackModel[]): readonly FallbackModel[] {
  const twice = models.find(({ model }, at) => models.findIndex((other) => other.model === model) < at);
  if (twice === undefined) return models;
  throw invalidArgument(
    `The fallback "${twice.model}" is in the list twice. Name each model once; for other settings, register it under another id.`,
  );
}

function isList(given: FallbackOptions | FallbackOptions['models']): given is FallbackOptions['models'] {
  return Array.isArray(given);
}

function isModel(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : mustBe.object.accepts(value);
}

function requireModel(config: LlmConfig): FallbackModel {
  const { model } = config;
  if (model !== undefined && model !== '') return { ...config, model };
  throw invalidArgument(
    `A fallback must name a model, as in { model: "gpt-5-mini" }, found ${describeValue(model)}.`,
  );
}
