import { createAgentLoop, tool } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import { scriptedDriver } from '@holdfast/core/testing';

const clock = tool({
  name: 'clock',
  description: 'Returns the time.',
  inputSchema: { type: 'object' },
  execute: () => new Date().toISOString(),
});

// A model that calls the tool, and then responds. In production: aiSdkDriver({ model }).
const driver: Driver = {
  infer: (request, options) =>
    scriptedDriver(
      request.messages.last?.role === 'tool' ? 'I have looked at the clock.' : { calls: { clock: {} } },
    ).infer(request, options),
};

export const agents = { assistant: createAgentLoop({ driver, tools: [clock] }) };
