import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import {
  createAgentLoop,
  hasErrorCode,
  InProcessEngine,
  eventListener,
  RunAbort,
  sendMessage,
  SessionRuntime,
  tool,
} from '@holdfast/core';
import { sweep } from '@holdfast/core/engine';
import type { ExecutionEngine } from '@holdfast/core/engine';
import { scriptedDriver } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { z } from 'zod';
import { Queue } from './services/queue.ts';

const [program = '', role = ''] = process.argv.slice(1);
const definition = { name: 'astronomer' };
const store = await SqliteSessionStore.open({ path: 'sessions.db' });

/** Takes until its process is told to go, or it is told to stop. */
const count = tool({
  name: 'count',
  description: 'Counts.',
  inputSchema: z.object({}),
  async execute(_, { signal }) {
    process.send?.('counting');
    await once(process, 'SIGTERM', { signal });
    await setImmediate(); // and a little longer
    return 6_000;
  },
});
const look = tool({ name: 'look', description: 'Looks.', inputSchema: z.object({}), execute: () => 'stars' });

const runtimeFor = (...script: ScriptedAnswer[]): SessionRuntime => {
  const astronomer = createAgentLoop({ driver: scriptedDriver(...script), tools: [count, look] });
  return new SessionRuntime({ store, agents: { astronomer }, leaseSeconds: 3 });
};

if (role === 'worker') {
  const runtime = runtimeFor({ calls: { count: {} } });
  // #region worker
  const engine = new InProcessEngine({ onError: (error, sessionId) => console.error(sessionId, error) });
  const served = await engine.serve((id, options) => runtime.advance(id, options), { concurrency: 20 });
  await sweep(store, engine);
  const sweeping = setInterval(() => void sweep(store, engine).catch(console.error), 5_000);
  await once(process, 'SIGTERM');
  clearInterval(sweeping);
  await served.stop();
  await store.close();
  // #endregion
} else {
  const runtime = runtimeFor('6,000, and one moon.');
  // #region enqueue
  const { sessionId } = await runtime.create({ definition });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Count the stars.' }); // it is due now
  const worker = fork(program, ['worker']);
  await once(worker, 'message'); // its tool is at work, and has a long way to go

  const refused = await runtime
    .execute(sessionId, sendMessage('And the moons.'), { whenBusy: 'refuse' })
    .catch((error: unknown) => error);
  console.log(hasErrorCode(refused, 'SESSION_BUSY')); // => true
  const busy = await runtime.execute(sessionId, sendMessage('And the moons.')); // `enqueue`
  console.log(busy.state.status, busy.state.messages.length); // => inProgress 2
  // #endregion

  // #region drain
  worker.kill('SIGTERM');
  console.log((await once(worker, 'exit'))[0], (await store.due()).sessions.length); // => 0 1

  console.log((await runtime.advance(sessionId)).outcome); // => { type: 'finished' }
  const { state } = await runtime.get(sessionId);
  console.log(state.steps[0]?.toolExecutions[0]?.value, state.finalResponse); // => 6000 6,000, and one moon.
  // #endregion
}

if (role === '') {
  const runtime = runtimeFor({ calls: { count: {} } });
  const { sessionId } = await runtime.create({ definition });
  const counting = Promise.withResolvers<unknown>();
  const onEvent = eventListener('tool-started', counting.resolve);
  // #region stop
  const running = runtime.execute(sessionId, sendMessage('Count the stars.'), { onEvent });
  await counting.promise;
  await runtime.enqueue(sessionId, { type: 'stop', reason: 'The observatory closes.' }); // from anywhere
  const { state } = await running;
  console.log(state.status, state.stopReason, state.stopSignal?.message);
  // => stopped userRequested The observatory closes.
  // #endregion
}

if (role === '') {
  const runtime = runtimeFor({ calls: { look: {} } }, 'Stars.');
  // #region engine
  function queueEngine(queue: Queue): ExecutionEngine {
    const wake: ExecutionEngine['wake'] = (sessionId, { at } = {}) => queue.add(sessionId, at);
    return {
      wake,
      async serve(advance, { concurrency = 8 } = {}) {
        const leaving = new AbortController();
        queue.consume(concurrency, async (sessionId) => {
          const advanced = await advance(sessionId, { signal: leaving.signal, maxSteps: 1 });
          for (const other of advanced.wake) await wake(other);
          if (advanced.outcome.type === 'yield') await wake(sessionId);
          if (advanced.outcome.type === 'sleep') await wake(sessionId, { at: advanced.outcome.until });
        });
        return {
          async stop() {
            leaving.abort(new RunAbort('yield'));
            await queue.stop();
          },
        };
      },
    };
  }
  // #endregion
  const queue = new Queue();
  const { sessionId } = await runtime.create({ definition });
  const done = Promise.withResolvers<void>();
  const engine = queueEngine(queue);
  await runtime.enqueue(sessionId, { type: 'message', content: 'What is up there?' });
  await engine.wake(sessionId); // saved first, then woken: if this is lost, a sweep finds it
  const served = await engine.serve(async (id, options) => {
    const advanced = await runtime.advance(id, options);
    if (advanced.outcome.type === 'finished') done.resolve();
    return advanced;
  });
  await done.promise;
  await served.stop();
  console.log((await runtime.get(sessionId)).state.finalResponse, queue.handled); // => Stars. 2
  await store.close();
}
