import { mustBe, optionsCheck, type OptionsCheck } from '../arguments.ts';
import { systemClock } from '../clock.ts';
import { invalidArgument } from '../errors.ts';
import {
  billedUsage,
  DriverError,
  driverFailureOf,
  partialResponseOf,
  type DriverErrorKind,
} from '../loop/inference/driver-error.ts';
import {
  requireDriver,
  type Driver,
  type InferenceOptions,
  type InferenceRequest,
} from '../loop/inference/driver.ts';
import { usageOrEstimate } from '../loop/inference/token-estimate.ts';
import type { RequestForm } from '../loop/inference/request-form.ts';
import { PRICES, type ModelPrices } from '../loop/inference/model-prices.ts';
import { isUnreachable } from '../session/session-errors.ts';
import { AgentStop } from '../state/execution/continuation.ts';
import { InferenceResponse } from '../state/inference/inference-response.ts';
import { estimatedCost, knownCost, type LimitedCall } from './call-cost.ts';
import type {
  SpendingCall,
  SpendingLedger,
  SpendingLimits,
  SpendingRefusal,
  SpendingSettlement,
} from './spending-ledger.ts';

/** The options of `withSpendingLimit`. */
export interface SpendingLimitOptions<Context = unknown> {
  readonly ledger: SpendingLedger;
  /** The tenant or user who pays, or a function that returns it for a call. */
  readonly owner: string | ((call: LimitedCall<Context>) => string);
  /** The limits of the owner in US dollars, or a function that returns them. `{}` counts without a limit. */
  readonly limits:
    | SpendingLimits
    | ((owner: string, call: LimitedCall<Context>) => SpendingLimits | Promise<SpendingLimits>);
  /** The prices of the models. Required for the default of `upperBound`, and when the provider reports no cost. */
  readonly prices?: ModelPrices | undefined;
  /**
   * The most that one call can cost in US dollars, or a function that returns it. Default: the price of the estimated
   * input and of `maxOutputTokens` of the settings.
   */
  readonly upperBound?: number | ((call: LimitedCall<Context>) => number) | undefined;
  /** The seconds until the reservation of a call without a settlement expires; default 900. */
  readonly expiresInSeconds?: number | undefined;
  /**
   * Called when the ledger did not accept the cost of a call in two attempts. The response is used anyway. Pass the
   * settlement to `ledger.settle` later. Errors of the function are ignored.
   */
  readonly onUnsettled?: ((settlement: SpendingSettlement, error: unknown) => void) | undefined;
}

const STRING_OR_FUNCTION = {
  expected: 'a string or a function',
  accepts: (value: unknown) => mustBe.string.accepts(value) || mustBe.function.accepts(value),
};

// A check inside of a function is not in the bundle of a program that has no limit.
const checkOptions: OptionsCheck<SpendingLimitOptions<never>> = (options) =>
  optionsCheck<SpendingLimitOptions<never>>(
    'withSpendingLimit',
    {
      ledger: mustBe.required(
        mustBe.objectWith('a SpendingLedger', ['reserve', 'settle', 'release', 'read']),
      ),
      owner: mustBe.required(STRING_OR_FUNCTION),
      limits: mustBe.required({
        expected: 'limits, as in { day: 5 }, or a function',
        accepts: (value) => mustBe.object.accepts(value) || mustBe.function.accepts(value),
      }),
      prices: PRICES,
      upperBound: {
        expected: 'a number of US dollars or a function',
        accepts: (value) => mustBe.number(0).accepts(value) || mustBe.function.accepts(value),
      },
      expiresInSeconds: mustBe.seconds,
      onUnsettled: mustBe.function,
    },
    { limit: 'use "limits", as in limits: { day: 5 }', tenant: 'use "owner"', maxCost: 'use "limits"' },
  )(options);

const EXPIRES_IN_SECONDS = 900;

/**
 * Returns a driver that reserves the most that each call can cost before the call, and settles the real cost after it.
 * Each call of the driver counts: repeated calls, calls of fallback models, and summaries. When the ledger refuses a
 * reservation, the model is not called and the execution ends `stopped`, with the reason `costLimitReached` and the
 * source `spendingLimit`.
 *
 * A call whose cost is unknown counts with its reserved amount. An aborted call, and one of which a part arrived, counts
 * with an estimate when its usage is unknown. Another failed call keeps its reservation until it expires, and a call that the provider refused costs nothing. While the ledger does not answer, no
 * model is called, and the loop repeats the call as after a failure of the model.
 *
 * @example
 * const limited = withSpendingLimit(driver, { ledger, owner: 'acme', limits: { day: 5 }, prices });
 * const loop = createAgentLoop({ driver: limited, prices });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value, and when neither `prices`
 * nor `upperBound` is passed. A call rejects with `SPENDING_UNBOUNDED` when its upper bound cannot be computed.
 */
export function withSpendingLimit<Context = unknown>(
  driver: Driver,
  options: SpendingLimitOptions<Context>,
): Driver {
  requireDriver(driver);
  const { prices, upperBound } = checkOptions(options);
  if (prices === undefined && upperBound === undefined)
    throw invalidArgument('withSpendingLimit needs "prices" or "upperBound".', TypeError);
  return new LimitedDriver(driver, options);
}

interface ReservedCall extends SpendingSettlement {
  readonly modelId: string | undefined;
}

class LimitedDriver<Context> implements Driver {
  private readonly driver: Driver;
  private readonly options: SpendingLimitOptions<Context>;

  constructor(driver: Driver, options: SpendingLimitOptions<Context>) {
    this.driver = driver;
    this.options = options;
  }

  modelId(...[llmConfig]: Parameters<NonNullable<Driver['modelId']>>): string | undefined {
    return this.driver.modelId?.(llmConfig) ?? llmConfig?.model;
  }

  formOf(...[llmConfig]: Parameters<NonNullable<Driver['formOf']>>): RequestForm | undefined {
    return this.driver.formOf?.(llmConfig);
  }

  async infer(request: InferenceRequest, options: InferenceOptions): Promise<InferenceResponse> {
    const reserved = await this.reserve(request, options);
    let response: InferenceResponse;
    try {
      response = InferenceResponse.of(await this.driver.infer(request, options));
    } catch (error) {
      await this.settleFailure(reserved, error, request, options.signal.aborted);
      throw error;
    }
    const billed = response.finishReason === 'aborted' ? withEstimate(response, request) : response;
    await this.settleResponse(reserved, billed);
    return billed;
  }

  /** @throws AgentStop when the ledger refuses; the reason of an abort that came before the call. */
  private async reserve(request: InferenceRequest, { run, signal }: InferenceOptions): Promise<ReservedCall> {
    const { owner: ownerOf, limits: limitsOf, expiresInSeconds = EXPIRES_IN_SECONDS } = this.options;
    const modelId = this.modelId(request.llmConfig);
    const call = { request, modelId, state: run?.state, runContext: run?.runContext as Context };
    const owner = typeof ownerOf === 'string' ? ownerOf : ownerOf(call);
    const limits = typeof limitsOf === 'function' ? await limitsOf(owner, call) : limitsOf;
    const amount = this.upperBoundOf(call);
    const reservation = { owner, inferenceId: systemClock.newId(), amount };
    const { ledger } = this.options;
    const result = await whenAvailable(() => ledger.reserve({ ...reservation, limits, expiresInSeconds }));
    if (!result.isReserved) throw stopOf(result.refusal, amount);
    if (signal.aborted) {
      await this.release(reservation);
      throw signal.reason;
    }
    return { ...reservation, modelId };
  }

  private upperBoundOf(call: LimitedCall<Context>): number {
    const { upperBound, prices = {} } = this.options;
    if (upperBound === undefined) return estimatedCost(call, prices);
    return typeof upperBound === 'number' ? upperBound : upperBound(call);
  }

  private async settleResponse(reserved: ReservedCall, response: InferenceResponse): Promise<void> {
    const cost = knownCost(response, this.options.prices, reserved.modelId);
    await this.settle(reserved, cost ?? reserved.amount);
  }

  /** Settles the cost of a failed call: the reported one, an estimate from what arrived, or what was reserved. */
  private async settleFailure(
    reserved: ReservedCall,
    error: unknown,
    request: InferenceRequest,
    isAborted: boolean,
  ): Promise<void> {
    const partial = partialResponseOf(error);
    const reported = billedUsage(error, partial);
    const isBilled = partial !== undefined || isAborted;
    const usage = isBilled ? usageOrEstimate(reported, request, partial?.content) : reported;
    const called = { usage, modelId: partial?.modelId };
    const cost = knownCost(called, this.options.prices, reserved.modelId);
    if (cost !== undefined) await this.settle(reserved, cost);
    else if (partial === undefined && REFUSED.has(driverFailureOf(error).kind)) await this.release(reserved);
    else if (isBilled) await this.settle(reserved, reserved.amount);
  }

  private async settle({ owner, inferenceId }: SpendingCall, amount: number): Promise<void> {
    const settlement = { owner, inferenceId, amount };
    const { ledger, onUnsettled } = this.options;
    const settle = (): Promise<void> => ledger.settle(settlement);
    await settle()
      .catch(settle)
      .catch((error: unknown) => onUnsettled?.(settlement, error))
      .catch(() => undefined); // the response is used whatever the handler throws
  }

  /** Ends a reservation. When that fails, the reservation expires by itself. */
  private async release({ owner, inferenceId }: SpendingCall): Promise<void> {
    await this.options.ledger.release({ owner, inferenceId }).catch(() => undefined);
  }
}

/** A response without usage, because it was aborted, with an estimate of what the provider bills. */
function withEstimate(response: InferenceResponse, request: InferenceRequest): InferenceResponse {
  const usage = usageOrEstimate(response.usage, request, response.content);
  return usage === response.usage ? response : InferenceResponse.of({ ...response, usage });
}

/** The kinds of failures after which a provider bills nothing. */
const REFUSED: ReadonlySet<DriverErrorKind> = new Set([
  'rateLimited',
  'overloaded',
  'authentication',
  'quotaExceeded',
  'modelNotFound',
  'contextTooLong',
  'invalidRequest',
]);

/** @throws DriverError, after which the loop repeats the call, when the ledger does not answer. */
async function whenAvailable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    const message = 'The spending ledger does not answer, so the model was not called.';
    throw new DriverError('unknown', message, { isRetryable: true, cause: error });
  }
}

function stopOf(refusal: SpendingRefusal, amount: number): AgentStop {
  const { window, limit, spent, reserved, until } = refusal;
  const end = until === undefined ? '' : ` until ${new Date(until).toISOString()}`;
  const used = `${inWords(spent)} are spent and ${inWords(reserved)} reserved of ${inWords(limit)}`;
  const period = window === 'total' ? 'in total' : `for the ${window}${end}`;
  return new AgentStop({
    reason: 'costLimitReached',
    message: `${used} ${period}, and the call can cost ${inWords(amount)}.`,
    context: { window, limit, spent, reserved, amount, ...(until !== undefined && { until }) },
    source: 'spendingLimit',
  });
}

function inWords(dollars: number): string {
  return `$${Number(dollars.toFixed(6))}`;
}
