import { AgentState, createAgentLoop, tool, type AgentLoop, type Message, type Tool } from '@holdfast/core';
import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import { z } from 'zod';
import type { Job } from './job.ts';
import type { Peer } from './peer.ts';

/** The loop of core, with a driver that answers at once. */
export const core: Peer = {
  agent: (job) => runOf(job, coreLoop(job)),
  streamer: (job, pieces) => streamOf(job, createAgentLoop({ driver: streamingDriver(job, pieces) })),
};

/** A loop that does the job. */
export function coreLoop(job: Job): AgentLoop {
  return createAgentLoop({
    driver: instantDriver(job),
    tools: [echoTool(job)],
    budget: { maxSteps: Infinity },
  });
}

/** Where every run begins. */
export function firstState(job: Job): AgentState {
  return AgentState.empty().withSystemPrompt(job.system).withUserMessage(job.user);
}

/** The tool of the job. */
export function echoTool(job: Job): Tool {
  return tool({
    name: 'echo',
    description: 'Says it back.',
    inputSchema: z.object({ n: z.number(), text: z.string() }),
    execute: async (args) => job.echo(args),
  });
}

/** A run of a loop that does the job. */
export function runOf(job: Job, loop: AgentLoop): () => Promise<string | undefined> {
  return async () => (await loop.run(firstState(job))).finalResponse;
}

/** A run of a loop that streams. */
export function streamOf(job: Job, loop: AgentLoop): (onText: (text: string) => void) => Promise<void> {
  return async (onText) => {
    for await (const event of loop.stream(firstState(job))) {
      if (event.type === 'inference-delta' && event.delta.type === 'text') onText(event.delta.text);
    }
  };
}

function instantDriver(job: Job): Driver {
  return {
    async infer({ messages }): Promise<InferenceResponseInit> {
      const waiting = job.wait();
      if (waiting) await waiting;
      const { calls, text } = job.turn(lastCallId(messages.last));
      if (calls.length === 0) return { text, usage: job.usage };
      const content = calls.map(({ id, name, args }) => {
        return { type: 'tool-call', toolCallId: id, toolName: name, input: { ...args } } as const;
      });
      return { content, usage: job.usage };
    },
  };
}

function lastCallId(message: Message | undefined): string | undefined {
  return message?.role === 'tool' ? message.content.at(-1)?.toolCallId : undefined;
}

function streamingDriver(job: Job, pieces: readonly string[]): Driver {
  return {
    async infer(_, { onDelta }) {
      for (const text of pieces) {
        onDelta?.({ type: 'text', id: '0', text });
        // Text comes piece by piece: the reader has its turn after each.
        await Promise.resolve();
      }
      return { text: pieces.join(''), usage: job.usage };
    },
  };
}
