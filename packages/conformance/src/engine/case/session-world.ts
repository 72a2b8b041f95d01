import {
  createAgentLoop,
  MemorySessionStore,
  SessionConflictError,
  SessionRuntime,
  tool,
  type AgentLoop,
  type AgentSession,
  type Clock,
  type SessionStore,
  type SessionDirectory,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';
import type { Schedule } from '@holdfast/core/engine';
import { movedClock, type EngineClock } from './engine-clock.ts';

/** The lease of a claim in these cases. */
export const LEASE_SECONDS = 30;
export const MAX_ATTEMPTS = 3;

/**
 * Sessions, and the runtime that works on them. They have their own clock, because the engine knows only session ids.
 */
export interface SessionWorld {
  readonly clock: EngineClock;
  readonly store: SessionStore & SessionDirectory;
  readonly runtime: SessionRuntime;
  /** The idempotency keys of all calls of the tool, in order. */
  readonly calls: string[];
  /** Creates a session of an agent and enqueues a message to it. */
  readonly asked: (agent: AgentName, sessionId: string) => Promise<void>;
  /** The status of the session's execution. */
  readonly statusOf: (sessionId: string) => Promise<string | undefined>;
  /** Returns whether the execution of each of these sessions is `completed`. */
  readonly areCompleted: (sessionIds: readonly string[]) => Promise<boolean>;
}

/**
 * `speaker` responds at once. `worker` calls the tool three times first. `asker` calls it once, after an approval.
 * `poison` kills its process.
 */
type AgentName = 'speaker' | 'worker' | 'asker' | 'poison';

const CALLS: Readonly<Record<AgentName, number>> = { speaker: 0, worker: 3, asker: 1, poison: 0 };

/**
 * A driver that requests the tool `times` times and then gives its final response. It stores nothing, because it serves
 * many sessions.
 */
const calling = (times: number): Driver => ({
  async infer({ messages }) {
    const done = messages.toArray().filter(({ role }) => role === 'tool').length;
    if (done >= times) return { text: 'Done.' };
    return {
      content: [{ type: 'tool-call', toolCallId: `call ${done}`, toolName: 'act', input: {} }],
    };
  },
});

/** The agent with this name. Its tool calls `act`. */
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

/**
 * Creates sessions and a runtime.
 * @param viewed wraps the store for the runtime
 * @param called what the tool waits for
 * @param schedule the schedule of each session; by default that of the runtime
 */
export function sessionWorld(
  viewed: (store: SessionStore) => SessionStore = (store) => store,
  called: () => Promise<void> = async () => undefined,
  schedule?: (session: AgentSession) => Schedule,
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
  const limits = { leaseSeconds: LEASE_SECONDS, maxAttempts: MAX_ATTEMPTS };
  const options = { agents, clock, ...limits, ...(schedule && { schedule }) };
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

/** Wraps a store so that a worker leaves its claim of a `poison` session behind after the response, as if it had died. */
function dying(store: SessionStore): SessionStore {
  const save: SessionStore['save'] = async (session, options) => {
    if (hasAnswered(session)) throw new SessionConflictError(session.sessionId, 'fenced', 1, 2);
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
