import { load } from '../../peers/load.ts';
import type { EchoArgs, Job } from './job.ts';
import type { Peer } from './peer.ts';
import type { Zod } from './zod.ts';

interface ChatModels {
  readonly BaseChatModel: new (fields: object) => object;
}

interface Messages {
  readonly AIMessage: new (fields: object) => object;
  readonly AIMessageChunk: new (fields: object) => object;
}

interface Outputs {
  readonly ChatGenerationChunk: new (fields: object) => object;
}

interface Tools {
  readonly tool: (execute: (args: EchoArgs) => Promise<string>, init: object) => object;
}

interface Prebuilt {
  readonly createReactAgent: (init: object) => Agent;
}

interface Agent {
  invoke(input: object, options: object): Promise<{ readonly messages: readonly { content: string }[] }>;
  stream(input: object, options: object): Promise<AsyncIterable<readonly [{ readonly content: string }]>>;
}

interface PromptMessage {
  readonly tool_call_id?: string;
}

interface TokenListener {
  handleLLMNewToken(token: string, ...rest: readonly unknown[]): Promise<void>;
}

const { BaseChatModel } = await load<ChatModels>('@langchain/core/language_models/chat_models');
const { AIMessage, AIMessageChunk } = await load<Messages>('@langchain/core/messages');
const { ChatGenerationChunk } = await load<Outputs>('@langchain/core/outputs');
const { tool } = await load<Tools>('@langchain/core/tools');
const { createReactAgent } = await load<Prebuilt>('@langchain/langgraph/prebuilt');
const { z } = await load<Zod>('zod');

/** The agent of LangGraph, without a checkpointer. */
export const langgraph: Peer = {
  agent(job) {
    const agent = createReactAgent({
      llm: new InstantChatModel(job, []),
      tools: [echoTool(job)],
      prompt: job.system,
    });
    const options = { recursionLimit: job.steps * 2 + 10 };
    return async () => (await agent.invoke(inputOf(job), options)).messages.at(-1)?.content;
  },
  streamer(job, pieces) {
    const agent = createReactAgent({ llm: new InstantChatModel(job, pieces), tools: [], prompt: job.system });
    return async (onText) => {
      const stream = await agent.stream(inputOf(job), { streamMode: 'messages' });
      for await (const [{ content }] of stream) onText(content);
    };
  },
};

function inputOf(job: Job): object {
  return { messages: [{ role: 'user', content: job.user }] };
}

function echoTool(job: Job): object {
  const schema = z.object({ n: z.number(), text: z.string() });
  const execute = async (args: EchoArgs): Promise<string> => JSON.stringify(job.echo(args));
  return tool(execute, { name: 'echo', description: 'Says it back.', schema });
}

class InstantChatModel extends BaseChatModel {
  private readonly job: Job;
  private readonly pieces: readonly string[];

  constructor(job: Job, pieces: readonly string[]) {
    super({});
    this.job = job;
    this.pieces = pieces;
  }

  _llmType(): string {
    return 'instant';
  }

  bindTools(): this {
    return this;
  }

  async _generate(prompt: readonly PromptMessage[]): Promise<object> {
    const waiting = this.job.wait();
    if (waiting) await waiting;
    const { calls, text } = this.job.turn(prompt.at(-1)?.tool_call_id);
    const { inputTokens: input_tokens, outputTokens: output_tokens } = this.job.usage;
    const message = new AIMessage({
      content: text,
      tool_calls: calls.map((call) => ({ ...call, type: 'tool_call' })),
      usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
    });
    return { generations: [{ text, message }] };
  }

  async *_streamResponseChunks(_: unknown, __: unknown, listener?: TokenListener): AsyncGenerator<object> {
    for (const text of this.pieces) {
      const chunk = new ChatGenerationChunk({
        text,
        message: new AIMessageChunk({ content: text, id: 'm' }),
      });
      yield chunk;
      await listener?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}
