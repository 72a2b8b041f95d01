import { createAgentLoop, tool, type AgentLoop, type AgentSession, type Message } from '@holdfast/core';
import { DriverError, type Driver } from '@holdfast/core/driver';
import type { Schedule } from '@holdfast/core/engine';
import { z } from 'zod';
import { Job } from '../loop/job.ts';

/** The agents of an engine's workers. */
export interface AgentsTask {
  /** The steps of a session of `bench`: one tool call each, and the last with the final response. */
  readonly steps: number;
  /** Milliseconds of a call of the model. */
  readonly delay: number;
  /** `lanes`: a lane for each agent and a group for each owner. `owners`: a group for each owner. */
  readonly schedule: 'none' | 'owners' | 'lanes';
}

/** The lanes of the scenes with several providers. Each is an agent too. */
export const LANES = ['north', 'east', 'south', 'west'] as const;

/** Seconds of the pause that a provider requests with a 429. */
const RETRY_AFTER_SECONDS = 15;

/** The agents of a worker, and what their models were asked. */
export class EngineAgents {
  readonly agents: Readonly<Record<string, AgentLoop>>;
  /** The calls of the model that were answered, by agent. */
  readonly answers: Record<string, number> = {};
  /** The agent whose provider answers 429. */
  limited: string | undefined;

  constructor({ steps, delay }: AgentsTask) {
    const job = new Job({ steps: steps - 1, delay });
    const brief = new Job({ steps: 0 });
    const names = ['bench', ...LANES];
    this.agents = {
      ...Object.fromEntries(names.map((name) => [name, this.loop(name, job)])),
      brief: this.loop('brief', brief),
    };
  }

  private loop(name: string, job: Job): AgentLoop {
    const echo = tool({
      name: 'echo',
      description: 'Says it back.',
      inputSchema: z.object({ n: z.number(), text: z.string() }),
      effect: 'idempotent',
      execute: async (args) => job.echo(args),
    });
    return createAgentLoop({ driver: this.driver(name, job), tools: [echo], budget: { maxSteps: Infinity } });
  }

  private driver(name: string, job: Job): Driver {
    return {
      infer: async ({ messages }) => {
        await job.wait();
        if (this.limited === name) {
          const retryAfterSeconds = RETRY_AFTER_SECONDS;
          throw new DriverError('rateLimited', 'The provider answered 429.', { retryAfterSeconds });
        }
        this.answers[name] = (this.answers[name] ?? 0) + 1;
        const { calls, text } = job.turn(lastCallId(messages.last));
        if (calls.length === 0) return { text, usage: job.usage };
        const content = calls.map(({ id, name: toolName, args }) => {
          return { type: 'tool-call', toolCallId: id, toolName, input: { ...args } } as const;
        });
        return { content, usage: job.usage };
      },
    };
  }
}

/** The schedule of a session. */
export function scheduleOf(
  kind: AgentsTask['schedule'],
  { agentName, owner }: Pick<AgentSession, 'agentName' | 'owner'>,
): Schedule {
  if (kind === 'none') return {};
  return kind === 'owners' ? { group: owner } : { lane: agentName, group: owner };
}

function lastCallId(message: Message | undefined): string | undefined {
  return message?.role === 'tool' ? message.content.at(-1)?.toolCallId : undefined;
}
