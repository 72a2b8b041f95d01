import { expect, test } from 'vitest';
import {
  endWorkers,
  engineWorldOf,
  plansOf,
  startWorker,
  untilOver,
  verdictOn,
} from './support/engine-world.ts';
import { isQuiet, RECOVERY_SECONDS, secondsUntilClaimed, untilCalled } from './support/takeover.ts';

const KILLS = isQuiet ? 20 : 2;
const SESSIONS = 4;
/** Only a soak, on a quiet machine, checks a bound. */
const BOUND = isQuiet ? ` within ${RECOVERY_SECONDS} s` : '';

test(`another worker claims the sessions of a killed one${BOUND}, and ends them`, async () => {
  const { world } = await engineWorldOf('redis');
  const recoveries: number[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const plans = plansOf(SESSIONS, ['readOnly', 'idempotent']).map((plan) => ({
      ...plan,
      sessionId: `kill-${kill}-${plan.sessionId}`,
    }));
    const first = await startWorker(world, { pace: 5_000 });
    for (const plan of plans) await world.begin(plan);
    await untilCalled(world, plans);
    const next = await startWorker(world, { pace: 5 });
    const at = Date.now();
    first.kill();
    recoveries.push(...(await secondsUntilClaimed(world, plans, next, at)));
    await untilOver(world);
    await endWorkers([next]);
    expect((await verdictOn(world, plans)).problems).toEqual([]);
  }
  console.log(
    `After SIGKILL, sessions were claimed after ${recoveries.toSorted((a, b) => a - b).join(', ')} s`,
  );
  expect(Math.max(...recoveries)).toBeLessThan(isQuiet ? RECOVERY_SECONDS : Infinity);
});
