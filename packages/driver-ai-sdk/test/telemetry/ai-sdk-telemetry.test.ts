import { AgentState, createAgentLoop } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { aiSdkTelemetry } from '@holdfast/driver-ai-sdk/telemetry';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

const question = AgentState.empty().withUserMessage('Hello.');

test('a loop that is not passed to loop() is reported once', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const telemetry = aiSdkTelemetry();
  const loop = createAgentLoop(telemetry.options({ driver: scriptedDriver('Hi.', 'Hi.', 'Hi.') }));
  await loop.run(question);
  await loop.run(question);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('pass the loop to telemetry.loop() too')]]);
});

test('a loop that is passed to loop() is not reported', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const telemetry = aiSdkTelemetry();
  const loop = telemetry.loop(createAgentLoop(telemetry.options({ driver: scriptedDriver('Hi.') })));
  await loop.run(question);
  expect(warn).not.toHaveBeenCalled();
});
