import { isStepCount, ToolLoopAgent } from 'ai';
import { instantModel } from './instant-model.ts';
import type { Peer } from './peer.ts';
import { aiEchoTool } from './generate-text.ts';

/** The agent class of the AI SDK. */
export const aiToolLoopAgent: Peer = {
  agent(job) {
    const agent = new ToolLoopAgent({
      model: instantModel(job),
      tools: { echo: aiEchoTool(job) },
      instructions: job.system,
      stopWhen: isStepCount(job.steps + 2),
    });
    return async () => (await agent.generate({ prompt: job.user })).text;
  },
  streamer(job, pieces) {
    const agent = new ToolLoopAgent({ model: instantModel(job, pieces), instructions: job.system });
    return async (onText) => {
      const { textStream } = await agent.stream({ prompt: job.user });
      for await (const text of textStream) onText(text);
    };
  },
};
