import {
  AgentBuilder,
  AgentState,
  createAgentLoop,
  hasErrorCode,
  subagent,
  summaries,
  tool,
} from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';

const nothing = { inputSchema: { type: 'object' }, execute: () => 'nothing' };
const search = tool({ name: 'search', description: 'Searches.', ...nothing });
const publish = tool({ name: 'publish', description: 'Publishes.', ...nothing });

{
  const driver = scriptedDriver('Gladly.');
  // #region builder
  const builder = AgentBuilder.of({ driver, tools: [search, publish] }).withCapabilityFactories({
    summaries: ({ maxTokens }) => summaries({ maxTokens: Number(maxTokens) }),
  });

  const writer = builder.build({
    name: 'writer',
    systemPrompt: 'Be brief.',
    toolsDeny: ['publish'],
    capabilities: { summaries: { maxTokens: 50_000 } },
    budget: { maxSteps: 5, maxTokens: 20_000 },
  });
  const state = await writer.run(writer.start('Write a haiku.'));
  console.log(state.systemPrompt, state.finalResponse); // => Be brief. Gladly.

  try {
    builder.build({ name: 'editor', tools: ['spell'] });
  } catch (error) {
    console.log(hasErrorCode(error, 'AGENT_NOT_BUILDABLE'), (error as Error).message);
    // => true Agent "editor" names tools that there are not: spell. There are: search, publish.
  }
  // #endregion
}

{
  const researcher = scriptedDriver('384 400 km on average.');
  const driver = scriptedDriver(
    { calls: { research: { prompt: 'How far away is the moon?' } } },
    'About 384 000 km.',
  );
  // #region subagent
  const research = subagent({
    name: 'research',
    description: 'Finds out about a topic.',
    loop: createAgentLoop({ driver: researcher, tools: [search] }),
    systemPrompt: 'Say only what you are sure of.',
    budget: { maxTokens: 20_000 },
  });
  const loop = createAgentLoop({ driver, tools: [research], budget: { maxTokens: 50_000, maxSeconds: 60 } });

  const state = await loop.run(AgentState.empty().withUserMessage('How far is the moon?'));
  console.log(state.finalResponse); // => About 384 000 km.
  console.log(state.usage.totalTokens); // => 45
  // #endregion
}
