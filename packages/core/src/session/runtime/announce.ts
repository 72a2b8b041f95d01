import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import { callAfter } from '../../clock.ts';
import type { SessionDirectory } from '../session-directory.ts';
import { newWriteToken } from '../store/record/write-token.ts';
import type { RuntimeParts } from './runtime-options.ts';

/** Options of `SessionRuntime.announce`. */
export interface AnnounceOptions {
  /** The seconds between two announcements. A worker that has died is listed for three times as long. Default: 30. */
  readonly everySeconds?: number | undefined;
}

const DIRECTORY = mustBe.objectWith(
  'a session store of all owners, with announce(), as in runtime.announce(store)',
  ['announce'],
);
const checkOptions = optionsCheck<AnnounceOptions>('announce', { everySeconds: mustBe.seconds });

const DEFAULT_SECONDS = 30;
const ANNOUNCEMENTS_MISSED = 3;

/**
 * Announces the sessions that a runtime works on, again and again. Returns a function that ends it. An announcement that
 * the directory does not accept is left out: the next one replaces it.
 * @throws what the directory throws the first time.
 */
export async function announceWorker(
  directory: SessionDirectory,
  options: AnnounceOptions,
  { workerName, clock, slots }: Pick<RuntimeParts, 'workerName' | 'clock' | 'slots'>,
): Promise<() => Promise<void>> {
  checkArgument('store of announce', directory, DIRECTORY);
  const { everySeconds = DEFAULT_SECONDS } = checkOptions(options);
  // Processes with the same name, such as those of one host, must not replace each other.
  const worker = { workerName: `${workerName}/${newWriteToken()}`, since: clock.now() };
  const announce = (seconds: number): Promise<void> =>
    directory.announce({ ...worker, sessionIds: slots.sessionIds }, seconds);
  let isOver = false;
  let cancel: () => void = () => undefined;
  let last = Promise.resolve();
  const again = async (): Promise<void> => {
    await announce(everySeconds * ANNOUNCEMENTS_MISSED).catch(() => undefined);
    if (!isOver) schedule();
  };
  const schedule = (): void => {
    cancel = callAfter(clock, everySeconds * 1_000, () => void (last = again()));
  };
  await announce(everySeconds * ANNOUNCEMENTS_MISSED);
  schedule();
  return async () => {
    isOver = true;
    cancel();
    await last; // an announcement that arrived after the end would list the worker again
    await announce(0).catch(() => undefined);
  };
}
