import { load } from '../../peers/load.ts';
import type { EchoArgs, Job } from './job.ts';
import type { Peer } from './peer.ts';
import type { Zod } from './zod.ts';

interface OpenAiAgents {
  readonly Agent: new (init: object) => object;
  readonly Runner: new (init: object) => Runner;
  readonly Usage: new (fields: object) => object;
  readonly tool: (init: object) => object;
  readonly setTracingDisabled: (disabled: boolean) => void;
}

interface Runner {
  run(agent: object, input: string, options: { readonly maxTurns: number }): Promise<Finished>;
  run(agent: object, input: string, options: { readonly stream: true }): Promise<Streamed>;
}

interface Finished {
  readonly finalOutput?: string;
}

interface Streamed extends AsyncIterable<StreamEvent> {
  readonly completed: Promise<void>;
}

interface StreamEvent {
  readonly type: string;
  readonly data?: { readonly type: string; readonly delta?: string };
}

interface ModelRequest {
  readonly input: string | readonly { readonly type?: string; readonly callId?: string }[];
}

const { Agent, Runner, Usage, tool, setTracingDisabled } = await load<OpenAiAgents>('@openai/agents');
const { z } = await load<Zod>('zod');
setTracingDisabled(true);

/** The OpenAI Agents SDK. */
export const openaiAgents: Peer = {
  agent(job) {
    const agent = new Agent({
      name: 'bench',
      instructions: job.system,
      model: modelOf(job, []),
      tools: [echoTool(job)],
    });
    const runner = new Runner({ tracingDisabled: true });
    return async () => (await runner.run(agent, job.user, { maxTurns: job.steps + 2 })).finalOutput;
  },
  streamer(job, pieces) {
    const agent = new Agent({ name: 'bench', instructions: job.system, model: modelOf(job, pieces) });
    const runner = new Runner({ tracingDisabled: true });
    return async (onText) => {
      const stream = await runner.run(agent, job.user, { stream: true });
      for await (const { type, data } of stream) {
        if (type === 'raw_model_stream_event' && data?.type === 'output_text_delta') onText(data.delta ?? '');
      }
      await stream.completed;
    };
  },
};

function echoTool(job: Job): object {
  return tool({
    name: 'echo',
    description: 'Says it back.',
    parameters: z.object({ n: z.number(), text: z.string() }),
    execute: async (args: EchoArgs) => job.echo(args),
  });
}

function modelOf(job: Job, pieces: readonly string[]): object {
  return {
    async getResponse({ input }: ModelRequest) {
      const waiting = job.wait();
      if (waiting) await waiting;
      return {
        usage: new Usage(usageOf(job)),
        output: outputOf(job, input),
        responseId: 'r',
      };
    },
    async *getStreamedResponse() {
      yield { type: 'response_started' };
      for (const delta of pieces) yield { type: 'output_text_delta', delta };
      const output = [message(pieces.join(''))];
      yield { type: 'response_done', response: { id: 'r', usage: usageOf(job), output } };
    },
  };
}

function usageOf({ usage }: Job): object {
  return { requests: 1, ...usage, totalTokens: usage.inputTokens + usage.outputTokens };
}

function outputOf(job: Job, input: ModelRequest['input']): readonly object[] {
  const last = typeof input === 'string' ? undefined : input.at(-1);
  const { calls, text } = job.turn(last?.type === 'function_call_result' ? last.callId : undefined);
  if (calls.length === 0) return [message(text)];
  return calls.map(({ id, name, args }) => {
    const call = { type: 'function_call', id: `fc_${id}`, callId: id, name, status: 'completed' };
    return { ...call, arguments: JSON.stringify(args) };
  });
}

function message(text: string): object {
  const content = [{ type: 'output_text', text }];
  return { id: 'm', type: 'message', role: 'assistant', status: 'completed', content };
}
