import { HoldfastError } from '../errors.ts';
import type { StepId } from '../state/ids.ts';
import { InferenceResponse } from '../state/inference.ts';
import type { InferenceResponseInit } from '../state/inference.ts';
import type { InferenceDelta, InferenceRequest } from './driver.ts';
import { withinGrace } from './grace.ts';
import { repairedMessages } from './repair-messages.ts';
import type { RunState } from './run-state.ts';
import { next } from './stepper.ts';

/** The inference of one step, with the hooks around it. */
export class ModelCall {
  private readonly run: RunState;

  constructor(run: RunState) {
    this.run = run;
  }

  /** Asks the hooks and the model. Nothing comes of it when the run was told to stop before the call. */
  async carryOut(): Promise<void> {
    const { run } = this;
    const { loop } = run;
    const request = loop.hooks.has('beforeInference') ? await this.changedRequest() : this.request();
    if (!run.mayBegin() || next(run.state).type !== 'infer') return;
    run.emit({ type: 'inference-started', stepId: this.stepId, messageCount: request.messages.length });
    const answer = await this.answer(request);
    if (answer === undefined) return;
    let response = answer;
    if (loop.hooks.has('afterInference')) response = await this.changedAnswer(answer);
    else this.takeResponse(answer);
    if (response.finishReason === 'error') {
      throw new HoldfastError('DRIVER_FAILED', 'The model ended its answer with an error.', {
        data: { rawFinishReason: response.rawFinishReason },
      });
    }
  }

  private request(): InferenceRequest {
    const { loop, state } = this.run;
    return {
      messages: state.currentStep?.input ?? state.messages,
      systemPrompt: state.systemPrompt,
      tools: loop.toolList,
      toolChoice: loop.toolChoice,
      responseFormat: state.responseFormat,
      llmConfig: state.llmConfig,
    };
  }

  /** The request as the hooks want it, repaired. What the model is shown instead is what the step then says it was shown. */
  private async changedRequest(): Promise<InferenceRequest> {
    const { run } = this;
    const { loop } = run;
    const original = this.request();
    let request = original;
    for (const hook of loop.hooks.at('beforeInference')) {
      if (run.isLost()) break;
      const change = await run.callHook(hook, 'beforeInference', request);
      if (change?.state) await run.changeBeforeCall(change.state);
      request = change?.request ?? request;
    }
    if (request.messages === original.messages) return request;
    const input = repairedMessages(request.messages, original.messages);
    run.advance({ type: 'inputChanged', input, at: run.now() });
    return { ...request, messages: input };
  }

  /** The driver's answer; `undefined` when the run was aborted before there was one worth keeping. */
  private async answer(request: InferenceRequest): Promise<InferenceResponse | undefined> {
    const { run } = this;
    const { stepId } = this;
    let isOpen = true;
    const report = (delta: InferenceDelta): void => {
      if (isOpen && !run.isLost()) run.emit({ type: 'inference-delta', stepId, delta });
    };
    try {
      const onDelta = run.listeners.length === 0 ? undefined : report;
      const { signal } = run;
      const given = run.loop.driver.infer(request, { signal, onDelta });
      const response = InferenceResponse.of(await withinGrace(given, { signal, clock: run.loop.clock }));
      const kind = run.checkAbort();
      const isWhole = response.finishReason !== 'aborted';
      return kind === 'lost' || (kind === 'yield' && !isWhole) ? undefined : response;
    } catch (error) {
      const partial = partialResponseOf(error);
      if (run.checkAbort()) {
        return run.hasLeft() ? undefined : InferenceResponse.of({ ...partial, finishReason: 'aborted' });
      }
      if (partial) this.takeResponse(InferenceResponse.of({ ...partial, finishReason: 'error' }));
      throw error;
    } finally {
      isOpen = false;
    }
  }

  /** Asks the hooks. Whatever they throw, the answer was paid for and is kept. */
  private async changedAnswer(answer: InferenceResponse): Promise<InferenceResponse> {
    const { run } = this;
    const { loop } = run;
    let response = answer;
    try {
      for (const hook of loop.hooks.at('afterInference')) {
        if (run.isLost()) break;
        const change = await run.callHook(hook, 'afterInference', response);
        if (change?.state) run.change(change.state);
        response = change?.response ?? response;
      }
    } finally {
      this.takeResponse(response);
    }
    return response;
  }

  private takeResponse(response: InferenceResponse): void {
    this.run.advance({ type: 'inferred', response, at: this.run.now() });
  }

  private get stepId(): StepId {
    return this.run.state.currentStep?.id as StepId;
  }
}

/** What had arrived when a driver threw, if it says so. */
function partialResponseOf(error: unknown): InferenceResponse | undefined {
  if (typeof error !== 'object' || error === null || !('partialResponse' in error)) return undefined;
  try {
    return InferenceResponse.of(error.partialResponse as InferenceResponseInit);
  } catch {
    return undefined;
  }
}
