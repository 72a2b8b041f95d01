import type { TelemetryEvent, TelemetryEventName, TelemetryIntegration } from './integration.ts';
import { recordedEvent, type RecordingOptions } from './recorded-event.ts';
import { openOperation, tracedWork, type OpenOperation } from './tracing-channel.ts';
import { workAround } from './work-around.ts';

type WorkName = 'executeLanguageModelCall' | 'executeTool';

/** Work, and the event that describes it. */
export interface Work<T> {
  readonly event: TelemetryEvent & { readonly callId: string };
  readonly execute: () => PromiseLike<T>;
}

/** Passes events to the integrations of one run. No integration can change the run: errors and promises are ignored. */
export class TelemetryDispatcher {
  private readonly integrations: readonly TelemetryIntegration[];
  private readonly recording: RecordingOptions;

  constructor(integrations: readonly TelemetryIntegration[], recording: RecordingOptions) {
    this.integrations = integrations;
    this.recording = recording;
  }

  emit(name: TelemetryEventName, event: TelemetryEvent): void {
    for (const integration of this.integrations) {
      this.pass(integration, name, event);
      if (name === 'onStepEnd') this.pass(integration, 'onStepFinish', event);
    }
  }

  /** Begins an operation of the tracing channel. */
  open(type: string, event: TelemetryEvent): OpenOperation {
    const { recordsResults } = this;
    return openOperation({ message: { type, event: this.recorded(event) }, recordsResults });
  }

  /** Returns the event as the integrations may see it. */
  private recorded(event: TelemetryEvent): TelemetryEvent {
    return recordedEvent(event, this.recording);
  }

  /** True when the results of calls and tools may be published. */
  private get recordsResults(): boolean {
    return this.recording.recordInputs !== false && this.recording.recordOutputs !== false;
  }

  callModel<T>(work: Work<T>): Promise<T> {
    return this.around('executeLanguageModelCall', 'languageModelCall', work);
  }

  callTool<T>(work: Work<T> & { readonly event: { readonly toolCallId: string } }): Promise<T> {
    return this.around('executeTool', 'executeTool', work);
  }

  private around<T>(name: WorkName, type: string, { event, execute }: Work<T>): Promise<T> {
    const recorded = this.recorded(event);
    const { recordsResults } = this;
    let inner = execute;
    for (const integration of this.integrations) {
      const wrapper: unknown = integration[name];
      if (typeof wrapper !== 'function') continue;
      const work = inner;
      inner = () => workAround(work, (once) => wrapper.call(integration, { ...recorded, execute: once }));
    }
    return tracedWork({ message: { type, event: recorded }, recordsResults }, inner);
  }

  private pass(
    integration: TelemetryIntegration,
    name: TelemetryEventName | 'onStepFinish',
    event: TelemetryEvent,
  ): void {
    try {
      const method: unknown = integration[name];
      if (typeof method !== 'function') return;
      Promise.resolve(method.call(integration, this.recorded(event))).catch(() => undefined);
    } catch {
      // An integration does not take part in the run.
    }
  }
}
