import type { ArgumentCheck } from '../../arguments.ts';
import { mustBe, optionsCheck } from '../../arguments.ts';
import { describeValue, invalidArgument } from '../../errors.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { Instant } from '../../clock.ts';
import type { ExecutionFallback } from '../../state/inference/fallback.ts';
import type { LlmConfig } from '../../state/llm-config.ts';
import type { DriverErrorKind } from './driver-error.ts';
import { DRIVER_ERROR_KINDS, driverFailureOf, REMEDIABLE_KINDS } from './driver-error.ts';

/** The models that the loop calls when the agent's own model fails. */
export interface FallbackOptions {
  /**
   * The models in the order in which they are called: the id of a model, or settings that replace those of the agent.
   */
  readonly models: readonly (string | LlmConfig)[];
  /** The kinds of failures that switch the model. Default: all kinds except failures of the request itself. */
  readonly on?: readonly DriverErrorKind[];
  /** Seconds until the loop calls the agent's own model again; default 300. */
  readonly forSeconds?: number;
}

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
  private readonly models: readonly (LlmConfig & { readonly model: string })[];
  private readonly kinds: ReadonlySet<DriverErrorKind>;
  private readonly milliseconds: number;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. */
  constructor(given: FallbackOptions | FallbackOptions['models']) {
    const {
      models,
      on = REMEDIABLE_KINDS,
      forSeconds = 300,
    } = checkFallback(isList(given) ? { models: given } : given);
    this.models = models.map((model) => (typeof model === 'string' ? { model } : requireModel(model)));
    this.kinds = new Set(on);
    this.milliseconds = forSeconds * 1_000;
  }

  /** The settings of the next call: those of a fallback while it is in use, otherwise those of the agent. */
  settingsFor({ execution, llmConfig }: AgentState, now: Instant): LlmConfig | undefined {
    const used = this.inUse(execution?.fallback, now);
    return used === undefined ? llmConfig : { ...llmConfig, ...used };
  }

  /**
   * The fallback to use after a failed call; `undefined` when the failure does not switch the model, or no model
   * remains.
   */
  after(thrown: unknown, { execution }: AgentState, now: Instant): ExecutionFallback | undefined {
    if (!this.kinds.has(driverFailureOf(thrown).kind)) return undefined;
    const used = this.inUse(execution?.fallback, now);
    const next = this.models[used === undefined ? 0 : this.models.indexOf(used) + 1];
    return next && Object.freeze({ model: next.model, until: Math.ceil(now + this.milliseconds) });
  }

  private inUse(
    fallback: ExecutionFallback | undefined,
    now: Instant,
  ): (LlmConfig & { readonly model: string }) | undefined {
    if (fallback === undefined || fallback.until <= now) return undefined;
    return this.models.find(({ model }) => model === fallback.model);
  }
}

function isList(given: FallbackOptions | FallbackOptions['models']): given is FallbackOptions['models'] {
  return Array.isArray(given);
}

function isModel(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : mustBe.object.accepts(value);
}

function requireModel(config: LlmConfig): LlmConfig & { readonly model: string } {
  const { model } = config;
  if (model !== undefined && model !== '') return { ...config, model };
  throw invalidArgument(
    `A fallback must name a model, as in { model: "gpt-5-mini" }, found ${describeValue(model)}.`,
  );
}
