import { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentLoop, AgentLoopOptions, AgentState, Tool, ToolContext } from '@holdfast/core';
import {
  InferenceResponse,
  mustBe,
  optionsCheck,
  type Driver,
  type InferenceOptions,
  type InferenceRequest,
} from '@holdfast/core/driver';
import type { AroundCall, ObservedInference } from '../call/observed-call.ts';
import { AgentTrace } from './agent-trace.ts';
import { TelemetryDispatcher } from './dispatcher.ts';
import { isIntegration, registeredIntegrations, type TelemetryIntegration } from './integration.ts';
import type { RecordingOptions } from './recorded-event.ts';

/** The options of `aiSdkTelemetry`. All of them are optional. */
export interface AiSdkTelemetryOptions extends RecordingOptions {
  /** Receive the events instead of those that `registerTelemetry` of the AI SDK has registered. */
  readonly integrations?: readonly TelemetryIntegration[] | undefined;
}

/** Shows the runs of loops to telemetry integrations of the AI SDK. */
export interface AiSdkTelemetry {
  /** Returns options with a driver and tools that report their calls, for `createAgentLoop` or an `AgentBuilder`. */
  options<Context>(options: AgentLoopOptions<Context>): AgentLoopOptions<Context>;
  /** Returns a loop whose runs report their start and end. The loop must have the options that `options` returned. */
  loop<Context>(loop: AgentLoop<Context>): AgentLoop<Context>;
}

const checkOptions = optionsCheck<AiSdkTelemetryOptions>('aiSdkTelemetry', {
  recordInputs: mustBe.boolean,
  recordOutputs: mustBe.boolean,
  functionId: mustBe.string,
  integrations: mustBe.listOf('integrations, as in integrations: [new OpenTelemetry()]', isIntegration),
});

/** The trace of the run that is at work, for the driver and the tools inside the run. */
const current = new AsyncLocalStorage<AgentTrace>();

/**
 * Shows the runs of loops to telemetry integrations of the AI SDK, such as `OpenTelemetry` of `@ai-sdk/otel`: each run
 * is one operation, with its steps, calls of models and calls of tools. Integrations that `registerTelemetry` has
 * registered before a run see the run. They cannot change it: their errors are ignored, and their promises are not
 * awaited. Needs `node:async_hooks`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 * @example
 * const telemetry = aiSdkTelemetry({ functionId: 'support' });
 * const loop = telemetry.loop(createAgentLoop(telemetry.options({ driver, tools })));
 */
export function aiSdkTelemetry(options: AiSdkTelemetryOptions = {}): AiSdkTelemetry {
  checkOptions(options);
  const newTrace = (): AgentTrace => {
    const integrations = options.integrations ?? registeredIntegrations();
    return new AgentTrace(new TelemetryDispatcher(integrations, options));
  };
  const tell = once(() => {
    // oxlint-disable-next-line no-console -- nothing else shows that the telemetry is empty
    console.warn(
      'aiSdkTelemetry sees no runs of a loop: pass the loop to telemetry.loop() too, as in telemetry.loop(createAgentLoop(telemetry.options({ driver }))).',
    );
  });
  return Object.freeze({
    options: (given) => ({
      ...given,
      driver: tracedDriver(given.driver, tell),
      ...(given.tools && { tools: given.tools.map(tracedTool) }),
    }),
    loop: (loop) => tracedLoop(loop, newTrace),
  } satisfies AiSdkTelemetry);
}

/** Returns a function that works the first time only. */
function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** @param tellUnwatched called when a loop calls the driver in a run that `loop` does not watch */
function tracedDriver(driver: Driver, tellUnwatched: () => void): Driver {
  return {
    ...driver,
    async infer(request: InferenceRequest, inference: InferenceOptions) {
      const { state } = inference.run ?? {};
      const trace = current.getStore();
      if (trace === undefined && state !== undefined) tellUnwatched();
      const stepId = state?.currentStep?.id;
      if (!trace?.isOf(state?.executionId) || stepId === undefined) return driver.infer(request, inference);
      const place = { stepId, isStreamed: inference.onDelta !== undefined };
      const aroundCall: AroundCall = (call, execute) => trace.callModel(place, call, execute);
      const observed: ObservedInference = { ...inference, aroundCall };
      try {
        const response = InferenceResponse.of(await driver.infer(request, observed));
        trace.respond(response);
        return response;
      } catch (error) {
        trace.fail(error);
        throw error;
      }
    },
  };
}

function tracedTool<Context>(tool: Tool<unknown, unknown, Context>): Tool<unknown, unknown, Context> {
  return {
    ...tool,
    execute(args: unknown, context: ToolContext<Context>) {
      const trace = current.getStore();
      if (!trace?.isOf(context.state.executionId)) return tool.execute(args, context);
      const call = { toolCallId: context.toolCallId, toolName: tool.name, input: args };
      return trace.callTool(call, async () => tool.execute(args, context));
    },
  };
}

function tracedLoop<Context>(loop: AgentLoop<Context>, newTrace: () => AgentTrace): AgentLoop<Context> {
  return Object.freeze<AgentLoop<Context>>({
    ...loop,
    run(...given) {
      const trace = newTrace();
      return watched(
        current.run(trace, () => loop.run(...given)),
        trace,
      );
    },
    iterate(...given) {
      const trace = newTrace();
      return watchedStates(loop.iterate(...given), { trace, first: given[0] });
    },
    stream(...given) {
      const trace = newTrace();
      const stream = current.run(trace, () => loop.stream(...given));
      watched(stream.result, trace).catch(() => undefined);
      return stream;
    },
  });
}

async function* watchedStates(
  states: AsyncGenerator<AgentState, undefined>,
  { trace, first }: { readonly trace: AgentTrace; readonly first: AgentState },
): AsyncGenerator<AgentState, undefined> {
  let last = first;
  try {
    for (;;) {
      const { value } = await current.run(trace, () => states.next());
      if (value === undefined) return undefined;
      last = value;
      yield value;
    }
  } catch (error) {
    trace.endWithError(error);
    throw error;
  } finally {
    await current.run(trace, () => states.return(undefined));
    endOf(trace, last);
  }
}

async function watched(result: Promise<AgentState>, trace: AgentTrace): Promise<AgentState> {
  try {
    const state = await result;
    endOf(trace, state);
    return state;
  } catch (error) {
    trace.endWithError(error);
    throw error;
  }
}

/** Ends the trace of a run with its last state. A run that yields counts as aborted. */
function endOf(trace: AgentTrace, { status }: AgentState): void {
  if (status === 'failed') trace.endWithError();
  else if (status === 'completed' || status === 'suspended' || status === 'stopped') trace.end();
  else trace.abort(new DOMException('The run ended before its execution.', 'AbortError'));
}
