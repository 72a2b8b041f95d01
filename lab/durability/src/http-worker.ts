// A process that takes one step of a session. Its environment has the store, the provider, the time and the fault.
import { systemClock } from '@holdfast/core';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { httpRuntime } from './http-agent.ts';

const { LOCATION = '', MODEL_URL = '', LATER_SECONDS = '0', DIES } = process.env;
const later = Number(LATER_SECONDS) * 1_000;
const clock = { ...systemClock, now: () => Date.now() + later };

const store = await SqliteSessionStore.open({ path: LOCATION, clock });
const runtime = httpRuntime({
  url: MODEL_URL,
  store,
  clock,
  leaseSeconds: 5,
  pay() {
    if (DIES) process.kill(process.pid, 'SIGKILL');
  },
});
await runtime.advance(process.argv[2] ?? '', { maxSteps: 1 });
await store.close();
