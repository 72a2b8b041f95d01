import { AgentBuilder, MemorySessionStore, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { DefinitionRegistry } from '@holdfast/definitions';

const definitions = await DefinitionRegistry.load('agents');
const tools = ['search', 'read', 'publish'].map((name) =>
  tool({ name, description: name, inputSchema: { type: 'object' }, execute: () => 'nothing' }),
);
const prices = { 'gpt-5': { input: 1.25, output: 10 } };
const builder = AgentBuilder.of({ driver: scriptedDriver('Gladly.'), tools, prices });
const agents = { writer: builder.build(definitions.get('writer')) };
const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
const { sessionId } = await runtime.create({ definition: definitions.get('writer') });
const session = await runtime.execute(sessionId, sendMessage('Write a haiku.'));
console.log(session.definition.tools, session.state.systemPrompt, session.state.finalResponse);
// => [ 'search', 'read' ] You write well, and briefly. Gladly.
