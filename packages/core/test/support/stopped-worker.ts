import { AgentState, createAgentLoop, systemClock, tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { readFileSync } from 'node:fs';

// Runs an agent whose tool waits for a message of the parent process. The date is later by the milliseconds that a file holds:
// the parent process writes it while this process is stopped.

const realNow = Date.now;
Date.now = () => realNow() + Number(readFileSync(process.argv[2] ?? '', 'utf8'));

const wait = tool({
  name: 'wait',
  description: 'Waits.',
  inputSchema: { type: 'object' },
  execute: () => {
    const told = new Promise((resolve) => process.once('message', resolve));
    process.send?.('running');
    return told;
  },
  timeoutSeconds: 600,
});
const driver = scriptedDriver({ calls: { wait: {} } }, 'Done.');
const loop = createAgentLoop({ driver, tools: [wait], clock: systemClock, budget: { maxSeconds: 600 } });
const state = await loop.run(AgentState.empty().withUserMessage('Wait.'));
process.send?.({
  status: state.status,
  outcome: state.steps[0]?.toolExecutions[0]?.outcome?.type,
  workedSeconds: state.execution?.workedSeconds,
  seconds: state.executionDuration,
});
process.disconnect();
