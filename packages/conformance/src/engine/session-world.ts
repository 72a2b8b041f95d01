import { createAgentLoop, MemorySessionStore, SessionRuntime, tool } from '@holdfast/core';
import type { AgentLoop, AgentSession, Clock, SessionStore } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import type { EngineClock } from './engine-clock.ts';
import { movedClock } from './engine-clock.ts';

/** How long a claim lasts that nobody renews. */
export const LEASE_SECONDS = 30;
export const MAX_ATTEMPTS = 3;

/** Sessions, and what works on them. Their time is not the engine's, which knows nothing of them but their ids. */
export interface SessionWorld {
  readonly clock: EngineClock;
  readonly store: SessionStore;
  readonly runtime: SessionRuntime;
  /** The idempotency keys with which the tool was called. */
  readonly calls: string[];
  /** A session of that agent that has a message to answer. */
  readonly asked: (agent: AgentName, sessionId: string) => Promise<void>;
  /** The status of the session's execution. */
  readonly statusOf: (sessionId: string) => Promise<string | undefined>;
  /** Is the execution of each of these sessions over, and as it should be? */
  readonly areCompleted: (sessionIds: readonly string[]) => Promise<boolean>;
}

/** `speaker` answers; `worker` calls the tool three times first; `asker` once, if a person lets it; `poison` dies. */
type AgentName = 'speaker' | 'worker' | 'asker' | 'poison';

const CALLS: Readonly<Record<AgentName, number>> = { speaker: 0, worker: 3, asker: 1, poison: 0 };

/** Calls the tool so many times, and answers. It keeps nothing between calls, as it works on many sessions. */
const calling = (times: number): Driver => ({
  async infer({ messages }) {
    const done = messages.toArray().filter(({ role }) => role === 'tool').length;
    if (done >= times) return { text: 'Done.' };
    return {
      content: [{ type: 'tool-call', toolCallId: `call ${done}`, toolName: 'act', input: {} }],
    };
  },
});

/** An agent whose tool does so. */
function agentNamed(name: AgentName, clock: Clock, act: (key: string) => Promise<string>): AgentLoop {
  const acting = tool({
    name: 'act',
    description: 'Acts.',
    inputSchema: { type: 'object' },
    needsApproval: name === 'asker',
    execute: (_, { idempotencyKey }) => act(idempotencyKey),
  });
  return createAgentLoop({ clock, driver: calling(CALLS[name]), tools: [acting] });
}

/** @param viewed The store as the runtime sees it. @param called What the tool waits for. */
export function sessionWorld(
  viewed: (store: SessionStore) => SessionStore = (store) => store,
  called: () => Promise<void> = async () => undefined,
): SessionWorld {
  const clock = movedClock();
  const store = new MemorySessionStore({ clock });
  const calls: string[] = [];
  const act = async (key: string): Promise<string> => {
    calls.push(key);
    await called();
    return 'done';
  };
  const agents = (session: AgentSession) => agentNamed(session.agentName as AgentName, clock, act);
  const options = { agents, clock, leaseSeconds: LEASE_SECONDS, maxAttempts: MAX_ATTEMPTS };
  const runtime = new SessionRuntime({ store: dying(viewed(store)), ...options });
  const statusOf: SessionWorld['statusOf'] = async (id) => (await store.load(id))?.state.execution?.status;
  return {
    clock,
    store,
    runtime,
    calls,
    statusOf,
    async asked(name, sessionId) {
      await runtime.create({ definition: { name }, sessionId });
      await runtime.enqueue(sessionId, { type: 'message', content: 'Act.' });
    },
    async areCompleted(sessionIds) {
      for (const id of sessionIds) if ((await statusOf(id)) !== 'completed') return false;
      return true;
    },
  };
}

/** A store to which nothing comes through of who has let the agent named `poison` work: the process has died of it. */
function dying(store: SessionStore): SessionStore {
  const save: SessionStore['save'] = async (session, options) => {
    if (hasAnswered(session)) throw new Error('The process has died.');
    return store.save(session, options);
  };
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = name === 'save' ? save : Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function hasAnswered({ agentName, state }: AgentSession): boolean {
  return agentName === 'poison' && (state.currentStep ?? state.steps.at(-1))?.response !== undefined;
}
