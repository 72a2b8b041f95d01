import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider';
import { instantModel } from './instant-model.ts';
import type { EchoArgs, Job } from './job.ts';
import type { Peer } from './peer.ts';

type ToolCall = Extract<LanguageModelV4Content, { type: 'tool-call' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type ToolResult = Extract<ToolMessage['content'][number], { type: 'tool-result' }>;
type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;

const TOOL = {
  type: 'function',
  name: 'echo',
  inputSchema: { type: 'object', properties: { n: { type: 'number' }, text: { type: 'string' } } },
} as const;

/** A loop written by hand, without checks, storage and events: the floor. */
export const raw: Peer = {
  agent(job) {
    const model = instantModel(job);
    return () => run(job, model);
  },
  streamer(job, pieces) {
    const model = instantModel(job, pieces);
    return async (onText) => {
      const { stream } = await model.doStream({ prompt: promptOf(job) });
      for await (const part of stream) if (part.type === 'text-delta') onText(part.delta);
    };
  },
};

async function run(job: Job, model: LanguageModelV4): Promise<string | undefined> {
  const prompt = promptOf(job);
  while (true) {
    const { content } = await model.doGenerate({ prompt, tools: [TOOL] });
    const calls = content.filter((part): part is ToolCall => part.type === 'tool-call');
    // The content of this model can be sent back unchanged.
    prompt.push({ role: 'assistant', content: content as AssistantMessage['content'] });
    if (calls.length === 0) return content[0]?.type === 'text' ? content[0].text : undefined;
    prompt.push({ role: 'tool', content: await Promise.all(calls.map((call) => answer(job, call))) });
  }
}

async function answer(job: Job, { toolCallId, toolName, input }: ToolCall): Promise<ToolResult> {
  const value = { ...job.echo(JSON.parse(input) as EchoArgs) };
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } };
}

function promptOf(job: Job): LanguageModelV4Message[] {
  return [
    { role: 'system', content: job.system },
    { role: 'user', content: [{ type: 'text', text: job.user }] },
  ];
}
