import { setTimeout as pause } from 'node:timers/promises';
import {
  createAgentLoop,
  systemClock,
  textOf,
  tool,
  toolFor,
  type AgentLoop,
  type AgentState,
  type Clock,
  type Hook,
  type JsonObject,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';
import { FALLBACK_MODEL, OWN_MODEL, PRICES, type Outage, type Provider } from './provider.ts';

/** The kinds of tools: by their effect, or by their further members. */
export const KINDS = ['readOnly', 'idempotent', 'once', 'ask', 'reconcile', 'approval', 'answer'] as const;

export type Kind = (typeof KINDS)[number];

type PayingKind = Exclude<Kind, 'answer'>;

const PAYING = KINDS.filter((kind): kind is PayingKind => kind !== 'answer');

/** A tool whose calls wait for an answer from outside. */
const askToPay = tool({
  name: 'answer',
  description: 'Asks to pay an amount.',
  inputSchema: { type: 'object' },
});

/** A tool that kills its process. */
function killTool({ journal, epoch }: AgentParts): Tool<Payment, unknown, Account> {
  return toolFor<Account>()<Payment>({
    name: 'kill',
    description: 'Kills its process.',
    inputSchema: { type: 'object' },
    effect: 'readOnly',
    async execute({ sessionId }) {
      journal.write({ type: 'called', sessionId, epoch, tool: 'readOnly' });
      process.kill(process.pid, 'SIGKILL');
      return pause(60_000, 'This process is dead.');
    },
  });
}

/** The answer to a call that waits for one. */
export function answerTo({ toolCallId }: { readonly toolCallId: string }): JsonObject {
  return { paid: toolCallId };
}

/** The plan of the model, in the first message: the number of steps, and of calls of a tool in each step. */
export interface Plan {
  readonly sessionId: string;
  readonly kind: Kind;
  readonly steps: number;
  readonly calls: number;
  /** How the provider fails in the second step. Default: it does not fail. */
  readonly outage?: Outage | undefined;
  /** The lane of the session. Default: none. */
  readonly lane?: string | undefined;
  /** The owner of the session. Default: none. */
  readonly owner?: string | undefined;
  /** The milliseconds that the session sleeps after its first step. Default: it does not sleep. */
  readonly restMilliseconds?: number | undefined;
  /** True when each call of a tool kills its process. */
  readonly isPoison?: boolean | undefined;
}

/** The plan of a session; `undefined` before its first message. */
export function planOf({ messages }: AgentState): Plan | undefined {
  const first = messages.toArray().find(({ role }) => role === 'user');
  return first && (JSON.parse(textOf(first)) as Plan);
}

/** The run context, which each worker creates anew from the session. */
export interface Account {
  readonly accountOf: string;
}

/** The parts of the agent. */
export interface AgentParts {
  readonly journal: Journal;
  readonly faults: Faults;
  /** Milliseconds that the model takes, and a tool before and after its effect. */
  readonly pace: number;
  /** Refuses calls as the outage of a plan demands. Default: no call is refused. */
  readonly provider?: Provider | undefined;
  /** The epoch of the claim under which the agent runs. */
  readonly epoch: number;
  /** The instant of the last check that a tool may be called. */
  readonly checkedAt: () => number;
  /** The clock of the loop. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  readonly hooks?: readonly Hook[] | undefined;
}

/** An agent whose answers follow from the messages, and from the outage of its plan, in any process. */
export function payer(parts: AgentParts): AgentLoop<Account> {
  const { clock = systemClock, hooks = [] } = parts;
  return createAgentLoop({
    driver: planDriver(parts),
    hooks: [...hooks],
    tools: [...PAYING.map((kind) => payTool(kind, parts)), askToPay, killTool(parts)],
    // Each pause suspends the execution, so that the next process may continue it.
    inferenceRetry: { initialDelaySeconds: 0.02, maxPauseSeconds: 0, onExhausted: 'suspend' },
    fallback: { models: [FALLBACK_MODEL], on: ['overloaded'], forSeconds: 600 },
    prices: PRICES,
    clock,
  });
}

function planDriver({ journal, faults, pace, provider, epoch, clock = systemClock }: AgentParts): Driver {
  return {
    modelId: (llmConfig) => llmConfig?.model ?? OWN_MODEL,
    async infer({ messages, llmConfig }): Promise<InferenceResponseInit> {
      const all = messages.toArray();
      const [first = '', ...heard] = all.filter(({ role }) => role === 'user').map(textOf);
      const { sessionId, kind, steps, calls, outage, isPoison } = JSON.parse(first) as Plan;
      const step = all.filter(({ role }) => role === 'tool').length + 1;
      const model = llmConfig?.model ?? OWN_MODEL;
      const call = { sessionId, epoch, step, model };
      journal.write({ type: 'inferring', ...call, now: clock.now() });
      await faults.reach('inference');
      if (pace > 0) await pause(pace);
      provider?.respond(outage, call);
      const usage = { inputTokens: 10 * all.length, outputTokens: 5 };
      // Later executions do not see the calls of earlier ones, but the answer.
      const isAnswered = all.some((message) => message.role === 'assistant' && textOf(message) !== '');
      if (isAnswered || step > steps) return { text: ['Done.', ...heard].join(' '), usage, modelId: model };
      const content = Array.from({ length: calls }, (_, index) => ({
        type: 'tool-call' as const,
        toolCallId: `${step}.${index + 1}`,
        toolName: isPoison ? 'kill' : kind,
        input: { sessionId, amount: 10 * step + index + 1 },
      }));
      return { content, usage, modelId: model };
    },
  };
}

interface Payment {
  readonly sessionId: string;
  readonly amount: number;
}

function payTool(kind: PayingKind, parts: AgentParts): Tool<Payment, unknown, Account> {
  const { journal } = parts;
  return toolFor<Account>()<Payment>({
    name: kind,
    description: 'Pays an amount.',
    inputSchema: { type: 'object' },
    effect: kind === 'reconcile' || kind === 'approval' ? 'once' : kind,
    execute: (payment, context) => pay(kind, payment, context, parts),
    ...(kind === 'approval' && { needsApproval: true }),
    ...(kind === 'reconcile' && {
      reconcile: (key: string, { toolCallId }: ToolContext) => {
        const isDone = journal.read().some((entry) => entry.type === 'done' && entry.key === key);
        return isDone ? { status: 'done', value: { paid: toolCallId } } : { status: 'notDone' };
      },
    }),
  });
}

async function pay(
  tool: PayingKind,
  { sessionId }: Payment,
  { toolCallId: call, idempotencyKey: key, runContext }: ToolContext<Account>,
  { journal, faults, pace, epoch, checkedAt }: AgentParts,
): Promise<unknown> {
  if (runContext.accountOf !== sessionId) throw new Error('The run context is that of another session.');
  const what = { sessionId, epoch, call, tool, key };
  journal.write({ type: 'called', ...what, checkedAt: checkedAt() });
  if (pace > 0) await pause(pace);
  await faults.reach('before-effect');
  journal.write({ type: 'done', ...what });
  await faults.reach('after-effect');
  if (pace > 0) await pause(pace);
  return { paid: call };
}
