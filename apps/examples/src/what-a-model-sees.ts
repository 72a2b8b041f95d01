import {
  AgentState,
  conversationWithCurrentToolTrace,
  createAgentLoop,
  messageCompiler,
  selectedSections,
  summarize,
  textOf,
  tool,
  userMessage,
} from '@holdfast/core';
import type { MessageTransform } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { z } from 'zod';

const look = tool({ name: 'look', description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });

{
  // #region default
  const driver = scriptedDriver({ calls: { look: {} } }, 'A cat.', 'Black.');
  const loop = createAgentLoop({ driver, tools: [look] });
  const first = await loop.run(AgentState.empty().withUserMessage('What is there?'));
  await loop.run(first.withUserMessage('Which colour?'));

  const seen = driver.requests.map(({ messages }) => [...messages].map(({ role }) => role).join(' '));
  console.log(seen);
  // => [ 'user', 'user assistant tool', 'user assistant user' ]
  console.log(first.messages.length); // => 4
  // #endregion
}

{
  // #region compose
  const withoutSmallTalk: MessageTransform = (messages) =>
    messages.toArray().filter((message) => !/^(hi|hello)\b/i.test(textOf(message)));
  const latest: MessageTransform = (messages) => messages.slice(-50);
  const compiler = messageCompiler(conversationWithCurrentToolTrace(), withoutSmallTalk, latest);
  const driver = scriptedDriver('Four.');
  const state = AgentState.empty().withUserMessage('Hi!').withUserMessage('What is 2 + 2?');
  const answered = await createAgentLoop({ driver, compiler }).run(state);
  console.log(driver.requests[0]?.messages.length, answered.messages.length); // => 1 3
  // #endregion
}

{
  // #region sections
  const knowledge = userMessage('Our shop is closed on Mondays.');
  const state = AgentState.empty().withUserMessage('Are you open?');
  const informed = state.withMessageStore(state.store.append('knowledge', [knowledge]));
  const driver = scriptedDriver('Not on Mondays.');
  await createAgentLoop({ driver, compiler: selectedSections(['knowledge', 'messages']) }).run(informed);
  console.log(driver.requests[0]?.messages.toArray().map(textOf));
  // => [ 'Our shop is closed on Mondays.', 'Are you open?' ]
  // #endregion
}

{
  // #region repair
  const loop = createAgentLoop({ driver: scriptedDriver({ calls: { look: {} } }, 'A cat.'), tools: [look] });
  const state = await loop.run(AgentState.empty().withUserMessage('What is there?'));
  const cut = state.withMessages(state.messages.slice(0, 2)).withUserMessage('Well?'); // the result is gone

  const driver = scriptedDriver('I was interrupted.');
  await createAgentLoop({ driver, tools: [look] }).run(cut);
  const sent = driver.requests[0]?.messages.toArray() ?? [];
  console.log(sent.map(({ role }) => role).join(' ')); // => user assistant tool user
  console.log(sent[2]?.content[0]); // => {…'No result was recorded.'…}
  // #endregion
}

{
  // #region summaries
  const writer = scriptedDriver('They talked about whales.');
  const { hook, compiler } = summarize({ driver: writer, maxTokens: 100, keepTokens: 20 });
  const driver = scriptedDriver('Blue whales.');
  const loop = createAgentLoop({ driver, hooks: [hook], compiler });
  const long = AgentState.empty().withUserMessage(`Whales. ${'They are large. '.repeat(50)}`);
  const state = await loop.run(long.withUserMessage('Which is the largest?'));

  console.log(driver.requests[0]?.messages.toArray().map(textOf));
  // => [
  // =>   'Summary of the conversation before this point:\n\nThey talked about whales.',
  // =>   'Which is the largest?'
  // => ]
  console.log(state.messages.length, state.store.names); // => 3 [ 'messages', 'summary' ]
  console.log(state.stepCount, state.usage.totalTokens); // => 1 30
  // #endregion
}
