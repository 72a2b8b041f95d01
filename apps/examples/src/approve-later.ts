import { spawnSync } from 'node:child_process';
import {
  approve,
  createAgentLoop,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { SqliteSessionStore } from '@holdfast/store-sqlite';
import { z } from 'zod';

const isFirst = process.argv[2] === 'first';
const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  inputSchema: z.object({ order: z.number() }),
  needsApproval: true,
  execute: ({ order }) => `Order ${order} is refunded.`,
});
const answer = isFirst ? { calls: { refund: { order: 7 } } } : 'Done: order 7 is refunded.';
const clerk = createAgentLoop({ driver: scriptedDriver(answer), tools: [refund] });
const store = await SqliteSessionStore.open({ path: 'sessions.db' });
const runtime = new SessionRuntime({ store, agents: { clerk } });

if (isFirst) {
  const { sessionId } = await runtime.create({ definition: { name: 'clerk' } });
  await runtime.execute(sessionId, sendMessage('Refund order 7.'));
} else {
  spawnSync(process.execPath, [...process.execArgv, ...process.argv.slice(1), 'first'], { stdio: 'inherit' });
  // #region approve
  const { sessions } = await runtime.list({ waitingFor: 'approval' });
  for (const { sessionId } of sessions) {
    const { state } = await runtime.get(sessionId);
    for (const { id, name, args } of pendingApprovals(state)) {
      console.log(name, args); // => refund { order: 7 }
      const session = await runtime.execute(sessionId, approve(id, { by: 'ann' }));
      console.log(session.state.finalResponse); // => Done: order 7 is refunded.
    }
  }
  // #endregion
}
await store.close();
