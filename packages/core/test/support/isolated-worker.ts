import { HoldfastError } from '@holdfast/core';
import { serveIsolated } from '@holdfast/core/engine';

// The program of an isolated process. The id of the session says what happens.
serveIsolated(async (sessionId, { signal, ...options } = {}) => {
  if (sessionId === 'die') process.kill(process.pid, 'SIGKILL');
  if (sessionId === 'block') for (;;);
  if (sessionId === 'disconnect') process.disconnect();
  if (sessionId === 'throw') throw new HoldfastError('STORE_UNAVAILABLE', 'The store does not reply.');
  if (sessionId === 'wait' || sessionId === 'disconnect')
    await new Promise((resolve) => signal?.addEventListener('abort', () => resolve(undefined)));
  const error = sessionId === 'fail' ? { error: new HoldfastError('AGENT_NOT_FOUND', 'No agent.') } : {};
  return {
    outcome: { type: signal?.aborted ? 'yield' : 'finished' },
    wake: [`${process.pid}`, JSON.stringify(options)],
    ...error,
  };
});
