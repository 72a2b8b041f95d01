import { load } from '../../peers/load.ts';
import type { Call, EchoArgs, Job } from './job.ts';
import type { Peer } from './peer.ts';
import type { Zod } from './zod.ts';

interface Strands {
  readonly Agent: new (init: object) => Agent;
  readonly Model: new () => object;
  readonly NullConversationManager: new () => object;
  readonly tool: (init: object) => object;
}

interface Agent {
  invoke(input: string): Promise<{ readonly lastMessage: { readonly content: readonly TextBlock[] } }>;
  stream(input: string): AsyncIterable<StreamEvent>;
}

interface TextBlock {
  readonly text?: string;
}

interface StreamEvent {
  readonly type: string;
  readonly event?: { readonly type: string; readonly delta?: { readonly text?: string } };
}

interface PromptMessage {
  readonly content: readonly { readonly toolUseId?: string }[];
}

const { Agent, Model, NullConversationManager, tool } = await load<Strands>('@strands-agents/sdk');
const { z } = await load<Zod>('zod');

/** The Strands Agents SDK. An agent owns its messages, so every run has an agent of its own; none are dropped. */
export const strands: Peer = {
  agent(job) {
    const model = new InstantModel(job, []);
    const echo = tool({
      name: 'echo',
      description: 'Says it back.',
      inputSchema: z.object({ n: z.number(), text: z.string() }),
      callback: async (args: EchoArgs) => job.echo(args),
    });
    return async () => (await agentOf(job, model, [echo]).invoke(job.user)).lastMessage.content[0]?.text;
  },
  streamer(job, pieces) {
    const model = new InstantModel(job, pieces);
    return async (onText) => {
      for await (const { event } of agentOf(job, model, []).stream(job.user)) {
        if (event?.type === 'modelContentBlockDeltaEvent') onText(event.delta?.text ?? '');
      }
    };
  },
};

function agentOf(job: Job, model: object, tools: readonly object[]): Agent {
  const conversationManager = new NullConversationManager();
  return new Agent({ model, tools, systemPrompt: job.system, printer: false, conversationManager });
}

class InstantModel extends Model {
  private readonly job: Job;
  private readonly pieces: readonly string[];

  constructor(job: Job, pieces: readonly string[]) {
    super();
    this.job = job;
    this.pieces = pieces;
  }

  updateConfig(): void {}

  getConfig(): object {
    return { modelId: 'instant' };
  }

  async *stream(prompt: readonly PromptMessage[]): AsyncGenerator<object> {
    const waiting = this.job.wait();
    if (waiting) await waiting;
    const { calls, text } = this.job.turn(prompt.at(-1)?.content.at(-1)?.toolUseId);
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    for (const call of calls) yield* toolUse(call);
    if (calls.length === 0) yield* textBlock(this.pieces.length > 0 ? this.pieces : [text]);
    yield { type: 'modelMessageStopEvent', stopReason: calls.length > 0 ? 'toolUse' : 'endTurn' };
    const { inputTokens, outputTokens } = this.job.usage;
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
    yield { type: 'modelMetadataEvent', usage };
  }
}

function* toolUse({ id, name, args }: Call): Generator<object> {
  yield { type: 'modelContentBlockStartEvent', start: { type: 'toolUseStart', name, toolUseId: id } };
  const delta = { type: 'toolUseInputDelta', input: JSON.stringify(args) };
  yield { type: 'modelContentBlockDeltaEvent', delta };
  yield { type: 'modelContentBlockStopEvent' };
}

function* textBlock(pieces: readonly string[]): Generator<object> {
  yield { type: 'modelContentBlockStartEvent' };
  for (const text of pieces) {
    yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text } };
  }
  yield { type: 'modelContentBlockStopEvent' };
}
