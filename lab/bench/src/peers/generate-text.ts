import { generateText, isStepCount, streamText, tool, type Tool } from 'ai';
import { z } from 'zod';
import { instantModel } from './instant-model.ts';
import type { EchoArgs, Job } from './job.ts';
import type { Peer } from './peer.ts';

/** `generateText` and `streamText` of the AI SDK: the base of all ratios. */
export const aiGenerateText: Peer = {
  agent(job) {
    const model = instantModel(job);
    const tools = { echo: aiEchoTool(job) };
    const stopWhen = isStepCount(job.steps + 2);
    const { system: instructions, user: prompt } = job;
    return async () => (await generateText({ model, tools, instructions, prompt, stopWhen })).text;
  },
  streamer(job, pieces) {
    const model = instantModel(job, pieces);
    const { system: instructions, user: prompt } = job;
    return async (onText) => {
      for await (const text of streamText({ model, instructions, prompt }).textStream) onText(text);
    };
  },
};

/** The tool of the job, for the AI SDK. */
export function aiEchoTool(job: Job): Tool<EchoArgs, ReturnType<Job['echo']>> {
  return tool({
    description: 'Says it back.',
    inputSchema: z.object({ n: z.number(), text: z.string() }),
    execute: async (args) => job.echo(args),
  });
}
