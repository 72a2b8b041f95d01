import {
  createAgentLoop,
  MemorySessionStore,
  SessionRuntime,
  StoreUnavailableError,
  textOf,
  tool,
  type AgentLoopOptions,
  type AgentSession,
  type SessionEvent,
  type SessionRuntimeOptions,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { manualClock, scriptedDriver, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { deferred } from './builders.ts';

const schema = { type: 'object' } as const;

export interface World {
  readonly store: MemorySessionStore;
  readonly clock: ManualClock;
  readonly calls: string[];
  readonly events: SessionEvent[];
  /** Another process with this script. */
  readonly process: (
    script: readonly ScriptedAnswer[],
    options?: Partial<SessionRuntimeOptions>,
    loop?: Partial<AgentLoopOptions>,
  ) => SessionRuntime;
}

export type Init = Partial<Pick<Tool, 'effect' | 'reconcile' | 'approvalTimeoutSeconds'>> & {
  readonly needsApproval?: boolean | ((args: { readonly amount?: number }) => boolean);
  readonly act?: (context: ToolContext) => unknown;
};

/** A payment tool, and processes that have it. */
export function world(init: Init = {}): World {
  const clock = manualClock(1_000_000);
  const [calls, events]: [string[], SessionEvent[]] = [[], []];
  const { act, ...others } = init;
  const pay = tool<{ readonly amount?: number }>({
    name: 'pay',
    description: 'Pays.',
    inputSchema: schema,
    execute: async (args, context) => {
      calls.push(`${context.idempotencyKey} ${context.attempt} ${JSON.stringify(args)}`);
      return act ? act(context) : 'paid';
    },
    ...(others as object),
  });
  let processes = 0;
  const store = new MemorySessionStore({ clock });
  return {
    store,
    clock,
    calls,
    events,
    process(script, options = {}, { tools = [], ...rest } = {}) {
      const ids = manualClock((processes += 1) * 7);
      const own = { ...clock, newId: ids.newId };
      const driver = scriptedDriver(...script);
      const loop = createAgentLoop({ driver, clock: own, ...rest, tools: [pay, ...tools] });
      return new SessionRuntime({
        store,
        agents: { payer: loop },
        clock: own,
        onSessionEvent: (event) => void events.push(event),
        ...options,
      });
    },
  };
}

export const call = (amount: number): ScriptedAnswer => ({ calls: [['pay', { amount }]] });
export const definition = { name: 'payer' };
export const outcomes = ({ state }: AgentSession): unknown[] =>
  [...state.steps, ...(state.currentStep ? [state.currentStep] : [])].flatMap(({ toolExecutions }) =>
    toolExecutions.map(({ outcome, attempt }) => [outcome?.type, attempt]),
  );

/** A process that dies in the tool: nothing it does from then on reaches the store. */
export async function diesInTool(init: Init): Promise<World & { readonly sessionId: string }> {
  const reached = deferred<undefined>();
  const never = deferred<string>();
  let isDead = false;
  const made = world({
    ...init,
    act: (context) => {
      if (isDead) return init.act?.(context) ?? 'paid';
      isDead = true;
      reached.resolve(undefined);
      return never.promise;
    },
  });
  const runtime = made.process([call(5)]);
  const { sessionId } = await runtime.create({ definition });
  await runtime.enqueue(sessionId, { type: 'message', content: 'Pay 5.' });
  runtime.advance(sessionId).catch(() => undefined);
  await reached.promise;
  made.clock.advance(0);
  return { ...made, sessionId };
}

/** Past the lease of the process that died, whose heartbeat is not heard. */
export function takeOver({ clock, store }: Pick<World, 'clock' | 'store'>): void {
  // The dead process's timers stand for a process that is gone.
  Object.defineProperty(store, 'renew', {
    value: () => Promise.reject(new StoreUnavailableError('dead', { isAmbiguous: true })),
    configurable: true,
  });
  clock.advance(31_000);
  Reflect.deleteProperty(store, 'renew');
}

/** Returns the work of a tool that resolves `reached`, and ends when its signal aborts. */
export function untilAborted(reached: {
  readonly resolve: () => void;
}): (context: Pick<ToolContext, 'signal'>) => Promise<never> {
  return ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      reached.resolve();
    });
}

/** Once all that can go on without a timer has. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What people said in a session, in order. */
export const userTexts = ({ state }: AgentSession): string[] =>
  state.messages.toArray().flatMap((message) => (message.role === 'user' ? [textOf(message)] : []));
