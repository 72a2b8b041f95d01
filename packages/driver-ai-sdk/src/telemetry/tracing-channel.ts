import { AsyncResource } from 'node:async_hooks';
import type * as DiagnosticsChannel from 'node:diagnostics_channel';
import type { TelemetryEvent } from './integration.ts';
import { FAILED } from './recorded-event.ts';

/** The tracing channel of the AI SDK. */
const CHANNEL = 'ai:telemetry';

/** A message on the tracing channel. */
interface TracingMessage {
  readonly type: string;
  readonly event: TelemetryEvent;
}

interface Published {
  readonly message: TracingMessage;
  /** False: subscribers learn only that the work ended. */
  readonly recordsResults: boolean;
}

/** Does work as one operation of the tracing channel, when the runtime has such channels and a subscriber exists. */
export async function tracedWork<T>(
  { message, recordsResults }: Published,
  work: () => PromiseLike<T>,
): Promise<T> {
  const channel = tracingChannel();
  if (channel === undefined || !channel.hasSubscribers) return work();
  let result: Promise<T> | undefined;
  const published = async (): Promise<unknown> => {
    result ??= Promise.resolve(work());
    if (recordsResults) return result;
    return result.then(
      () => undefined,
      () => Promise.reject(new Error(FAILED)),
    );
  };
  await Promise.resolve(channel.tracePromise(published, { ...message })).catch(() => undefined);
  return result ?? work();
}

/** An operation of the tracing channel that other work ends. */
export interface OpenOperation {
  /** Does work inside the operation. */
  run<T>(work: () => T): T;
  end(error?: unknown): void;
}

const UNSEEN: OpenOperation = { run: (work) => work(), end: () => undefined };

/** Begins an operation. It has no effect when no subscriber exists. */
export function openOperation({ message, recordsResults }: Published): OpenOperation {
  const channel = tracingChannel();
  if (channel === undefined || !channel.hasSubscribers) return UNSEEN;
  const context: Record<string, unknown> = { ...message };
  let resource: AsyncResource | undefined;
  channel.start.runStores(context, () => {
    resource = new AsyncResource('ai.telemetry');
  });
  channel.end.publish(context);
  return {
    run: (work) => (resource ? resource.runInAsyncScope(work) : work()),
    end(error) {
      if (error !== undefined) {
        context['error'] = recordsResults ? error : new Error(FAILED);
        channel.error.publish(context);
      }
      channel.asyncEnd.publish(context);
    },
  };
}

function tracingChannel(): DiagnosticsChannel.TracingChannel | undefined {
  if (typeof process === 'undefined') return undefined;
  return process.getBuiltinModule?.('node:diagnostics_channel')?.tracingChannel(CHANNEL);
}
