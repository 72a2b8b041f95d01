import { mustBe, optionsCheck } from '../../../arguments.ts';
import type { SessionChannel } from '../../../channel/session-channel.ts';
import { systemClock } from '../../../clock.ts';
import type { SessionDirectory } from '../../session-directory.ts';
import { ADVICE_OF_ENGINES } from '../advance-check.ts';
import { DueSessions } from './due-sessions.ts';
import { groupLimits } from '../queue/group-limits.ts';
import { IN_PROCESS_CHECKS, type InProcessEngineOptions } from '../queue/in-process-engine.ts';
import { checkLanes } from '../queue/lane-turns.ts';
import { DIRECTORY } from '../sweep.ts';
import { QueueEngine } from '../queue/queue-engine.ts';

/** The options of `PollingEngine`. Limits of lanes and groups hold in this process. */
export interface PollingEngineOptions extends InProcessEngineOptions {
  /** The store of the sessions. All workers on one store share its sessions. */
  readonly store: SessionDirectory;
  /** Wakes the workers of other processes at once. Without a channel, they see a wake-up when they poll. */
  readonly channel?: Pick<SessionChannel, 'notify' | 'onNotification'> | undefined;
  /** The seconds between two looks of an idle worker at the store, at most; with jitter. Default: 1. */
  readonly pollSeconds?: number | undefined;
  /**
   * The seconds for which a worker keeps a session that it has taken and not claimed. When its process dies in between,
   * another worker takes the session after that. Default: 10.
   */
  readonly againAfterSeconds?: number | undefined;
}

const checkOptions = optionsCheck<PollingEngineOptions>(
  'PollingEngine',
  {
    store: mustBe.required(DIRECTORY),
    channel: mustBe.objectWith('a session channel', ['notify', 'onNotification']),
    pollSeconds: mustBe.seconds,
    againAfterSeconds: mustBe.seconds,
    ...IN_PROCESS_CHECKS,
  },
  {
    ...ADVICE_OF_ENGINES,
    lockSeconds: 'the lock of a session is its claim: set leaseSeconds of the runtime',
  },
);

/**
 * An engine without a queue: the sessions that are due in the store are its wake-ups. Any number of processes can have one
 * on the same store. It suits some tens of workers.
 *
 * A worker reads a page of due sessions, the longest due first, and takes one at a time when it can start it. The store
 * gives a due session to one worker, and shows it to no other until the advance claims it. From then on the claim is the
 * lock: the runtime renews it, a claimed session is not due, and the session of a dead worker is due when the claim ends.
 * Workers that compete begin at different places of the page.
 *
 * `wake` stores nothing, so save or enqueue first: that makes the session due. `wake` makes the worker of this process look
 * at once, and the workers of other processes if there is a channel. Without it they look within `pollSeconds`. An
 * instant `at` only makes this process look then: an advance follows if the session is due.
 *
 * The store knows no lanes, priorities and groups. The engine orders the sessions of a page by the schedules that it knows
 * from wake-ups and results. Limits and pauses of lanes hold in one process.
 */
export class PollingEngine extends QueueEngine {
  /** The engine finds the due sessions itself, and a sweep would take them from it. */
  readonly sweepSeconds = false;

  /** @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown or missing option, or an invalid value. */
  constructor(options: PollingEngineOptions) {
    const checked = checkOptions(options);
    const { store, channel, clock = systemClock, stepsPerTurn, groupConcurrency } = checked;
    const { pollSeconds = 1, againAfterSeconds = 10, lanes = {} } = checked;
    checkLanes(lanes);
    const limits = { lanes, groupLimits: groupLimits(groupConcurrency) };
    const dueSessions = new DueSessions({ store, channel, clock, ...limits, pollSeconds, againAfterSeconds });
    super(dueSessions, { clock, stepsPerTurn });
  }
}
