import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createAgentLoop, sendMessage, SessionRuntime, tool, type SessionStore } from '@holdfast/core';
import { SessionWatcher, type SessionChannel, type SessionView } from '@holdfast/core/channel';
import { scriptedDriver } from '@holdfast/core/testing';

interface Connections {
  readonly store: SessionStore;
  readonly channel: SessionChannel;
}

/** Works on a session in this process: takes one step with a tool, then writes two words, and ends when it is stopped. */
export async function workUntilStopped(sessionId: string, connections: Connections): Promise<void> {
  const look = { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: {} } as const;
  let calls = 0;
  const writer = createAgentLoop({
    tools: [
      tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' }),
    ],
    driver: {
      async infer(_, { onDelta, signal }) {
        if (++calls === 1) return { content: [look] };
        onDelta?.({ type: 'text', id: '0', text: 'One ' });
        onDelta?.({ type: 'text', id: '0', text: 'two' });
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
        return { content: [{ type: 'text', text: 'One two' }], finishReason: 'aborted' };
      },
    },
  });
  await new SessionRuntime({ ...connections, agents: { writer } }).execute(sessionId, sendMessage('Count.'));
}

interface StoppedWorker {
  /** Starts the program that calls `workUntilStopped`, with these arguments before the id of the session. */
  readonly program: string;
  readonly args: readonly string[];
  /** Receives the process of the worker, to end it with the test. */
  readonly onStarted: (worker: ChildProcess) => void;
  /** True for the view after which the worker is stopped. */
  readonly isReached: (view: SessionView) => boolean;
  /** Receives each view. */
  readonly onView?: (view: SessionView) => unknown;
}

/** Watches a worker in another process, and stops it. Returns whether the view was reached, and the exit of the process. */
export async function stopWorkerOnView(
  connections: Connections,
  { program, args, onStarted, isReached, onView }: StoppedWorker,
): Promise<{ readonly wasReached: boolean; readonly exit: readonly unknown[] }> {
  const agents = { writer: createAgentLoop({ driver: scriptedDriver() }) };
  const runtime = new SessionRuntime({ ...connections, agents });
  const { sessionId } = await runtime.create({ definition: { name: 'writer' } });
  const command = ['--conditions=@holdfast/source', '--no-warnings', program, ...args, sessionId];
  const worker = spawn(process.execPath, command, { stdio: 'inherit' });
  onStarted(worker);
  const exited = once(worker, 'exit');
  let wasReached = false;
  for await (const view of new SessionWatcher(connections).watch(sessionId)) {
    onView?.(view);
    if (!wasReached && isReached(view)) {
      wasReached = true;
      await runtime.enqueue(sessionId, { type: 'stop' });
    }
    if (view.isSaved && view.session.state.status === 'stopped') break;
  }
  return { wasReached, exit: await exited };
}
