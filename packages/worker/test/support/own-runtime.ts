import { SessionRuntime, type SessionRuntimeOptions } from '@holdfast/core';

export function createRuntime(defaults: Omit<SessionRuntimeOptions, 'agents'>): SessionRuntime {
  process.stdout.write(
    `${JSON.stringify({ message: 'defaults', names: Object.keys(defaults).toSorted() })}\n`,
  );
  return new SessionRuntime({ ...defaults, agents: () => undefined });
}
