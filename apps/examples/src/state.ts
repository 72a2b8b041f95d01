import { AgentState, createAgentLoop, hasErrorCode, metadataKey } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';

{
  // #region transitions
  const empty = AgentState.empty();
  const asked = empty.withSystemPrompt('Be brief.').withUserMessage('Hello');

  console.log(empty.messages.length, asked.messages.length); // => 0 1
  console.log(asked.withSystemPrompt('Be brief.') === asked); // => true
  console.log(Object.isFrozen(asked), asked.status); // => true undefined
  // #endregion
}

{
  // #region accessors
  const loop = createAgentLoop({ driver: scriptedDriver('Good morning.') });
  const state = await loop.run(AgentState.empty().withUserMessage('Hello'));

  console.log(state.status, state.finalResponse); // => completed Good morning.
  console.log(state.stepCount, state.lastStepType, state.stopReason); // => 1 finalResponse undefined
  console.log(state.usage.totalTokens, state.cost, state.errors); // => 15 undefined []
  console.log(state.debug().continuation); // => stop: nothing left to do
  // #endregion
}

{
  // #region executions
  const loop = createAgentLoop({ driver: scriptedDriver('Noted.', 'Ada.') });
  const first = await loop.run(AgentState.empty().withUserMessage('My name is Ada.'));
  const second = await loop.run(first.withUserMessage('What is my name?'));

  console.log(second.finalResponse, second.executionCount); // => Ada. 2
  console.log(second.messages.length, second.stepCount); // => 4 1
  // #endregion
}

{
  // #region branches
  const loop = createAgentLoop({ driver: scriptedDriver('Red, say.', 'Blue, say.') });
  const question = AgentState.empty().withUserMessage('Name a colour.');
  const [red, blue] = [await loop.run(question), await loop.run(question)];
  console.log(red.finalResponse, blue.finalResponse, question.messages.length); // => Red, say. Blue, say. 1

  const other = red.fork();
  console.log(other.agentId === red.agentId, other.messages === red.messages, other.status);
  // => false true undefined
  // #endregion
}

{
  // #region metadata
  const customer = metadataKey<string>('customer');
  const state = AgentState.empty().withMetadata(customer, 'ada');
  console.log(state.metadata.get(customer)?.toUpperCase()); // => ADA
  // #endregion
}

{
  // #region json
  const loop = createAgentLoop({ driver: scriptedDriver('Hello.') });
  const state = await loop.run(AgentState.empty().withUserMessage('Hi'));
  const text = JSON.stringify(state);
  const later = AgentState.fromJSON(JSON.parse(text));
  console.log(later.finalResponse, JSON.stringify(later) === text); // => Hello. true

  try {
    AgentState.fromJSON({ ...state.toJSON(), version: 99 });
  } catch (error) {
    console.log(hasErrorCode(error, 'STATE_VERSION')); // => true
  }
  // #endregion
}

{
  // #region iterate
  const loop = createAgentLoop({ driver: scriptedDriver({ calls: { look: {} } }, 'Nothing there.') });
  for await (const state of loop.iterate(AgentState.empty().withUserMessage('Look!'))) {
    console.log(state.stepCount, state.lastStepType, state.status);
  }
  // => 1 error inProgress
  // => 2 finalResponse inProgress
  // => 2 finalResponse completed
  // #endregion
}
