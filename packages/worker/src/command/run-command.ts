import { hostname } from 'node:os';
import type { SessionEvent } from '@holdfast/core';
import { setTimeout as pause } from 'node:timers/promises';
import { errorFields, lineLog, type Log } from '../serve/log.ts';
import { startWorker, type StartedWorker } from '../serve/start-worker.ts';
import { importAgents, runtimeOf } from './agent-module.ts';
import { openEngine } from './engines.ts';
import { InputError } from './input-error.ts';
import { helpText, readSettings, type Settings } from './settings.ts';
import { openChannel, openStore } from './stores.ts';

const BAD_INPUT = 2;
/** The time for closing connections, after the time for running tools. */
const CLOSE_MS = 3_000;

/** Runs the command until a signal ends the process. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    const settings = readSettings(args, process.env);
    if (settings) await work(settings);
    else process.stdout.write(helpText());
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    process.stderr.write(`holdfast-worker: ${error.message}\n`);
    process.exit(BAD_INPUT);
  }
}

async function work(settings: Settings): Promise<void> {
  const { logLevel: level, logFormat: format } = settings;
  const log = lineLog({ level, format, write: (line) => process.stdout.write(line) });
  process.on('uncaughtException', (error) => endAfterError(error, log));
  const parts = new OpenParts();
  const started = start(settings, parts, log);
  stopOnSignals(started, parts, settings, log); // at once: without a listener, a signal kills the process
  try {
    await started;
  } catch (error) {
    await parts.close(log);
    if (error instanceof InputError) throw error;
    endAfterError(error, log);
  }
}

function endAfterError(error: unknown, log: Log): never {
  const { stack } = error as { readonly stack?: string };
  log('error', 'The worker ends after an error.', { ...errorFields(error), stack });
  process.exit(1);
}

/** The connections that the command has opened. It closes the last one first. */
class OpenParts {
  private readonly closers: (() => Promise<void>)[] = [];

  add<T extends { readonly close: () => Promise<void> }>(part: T): T {
    this.closers.unshift(() => part.close());
    return part;
  }

  private async closeInTurn(log: Log): Promise<void> {
    for (const close of this.closers)
      await close().catch((error: unknown) =>
        log('warn', 'A connection was not closed.', errorFields(error)),
      );
  }

  /** Closes all parts. The process ends in any case, so errors are only logged, and the time is limited. */
  async close(log: Log): Promise<void> {
    await Promise.race([this.closeInTurn(log), pause(CLOSE_MS)]);
  }
}

async function start(settings: Settings, parts: OpenParts, log: Log): Promise<StartedWorker> {
  const { channel: channelUrl, leaseSeconds, name = hostname(), ...serving } = settings;
  const { sweepSeconds, concurrency, port, host, allowedHosts } = serving;
  const module = await importAgents(settings.module);
  const store = parts.add(await openStore(settings.store));
  const channel = channelUrl === undefined ? undefined : parts.add(await openChannel(channelUrl));
  const runtime = await runtimeOf(module, {
    store,
    leaseSeconds,
    workerName: name,
    onSessionEvent: (event) => logSessionEvent(event, log),
    ...(channel && { channel }),
  });
  const { engine } = parts.add(await openEngine(settings, { store, channel, options: module.engine, log }));
  return startWorker({ runtime, store, engine, sweepSeconds, concurrency, port, host, allowedHosts, log });
}

/** Logs the events that a person should read, without the content of the session. */
function logSessionEvent(event: SessionEvent, log: Log): void {
  if (event.type === 'session-loaded' || event.type === 'session-saved') return;
  const { type, session } = event;
  const fields = {
    sessionId: session.sessionId,
    ...('error' in event && errorFields(event.error)),
    ...('reason' in event && { reason: event.reason }),
  };
  log('warn', type, fields);
}

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Stops the worker after the first signal, and ends the process at once after the second. */
function stopOnSignals(
  started: Promise<StartedWorker>,
  parts: OpenParts,
  { stopWithinSeconds }: Settings,
  log: Log,
): void {
  let isStopping = false;
  for (const [signal, number] of Object.entries(SIGNAL_NUMBERS))
    process.on(signal, () => {
      if (isStopping) process.exit(128 + number);
      isStopping = true;
      log('info', 'The worker stops.', { signal });
      void stop(started, parts, stopWithinSeconds, log);
    });
}

/** Stops a worker, also while it waits for a server that does not reply. A start that fails ends the process itself. */
async function stop(
  started: Promise<StartedWorker>,
  parts: OpenParts,
  withinSeconds: number,
  log: Log,
): Promise<void> {
  const limit = withinSeconds * 1_000 + CLOSE_MS;
  const stopped = started.then(
    (worker) => worker.stop({ withinSeconds }),
    () => pause(limit), // a start that fails ends the process itself
  );
  let exitCode = 0;
  await Promise.race([stopped, pause(limit)]).catch((error: unknown) => {
    exitCode = 1;
    log('error', 'The worker could not stop.', errorFields(error));
  });
  await parts.close(log);
  log('info', 'The worker has stopped.');
  process.exit(exitCode);
}
