import { createAgentLoop, MemorySessionStore, sendMessage, SessionRuntime } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { DefinitionRegistry } from '@holdfast/definitions';

const definitions = await DefinitionRegistry.load('agents');
const agents = { writer: createAgentLoop({ driver: scriptedDriver('Gladly.') }) };
const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents });
const { sessionId } = await runtime.create({ definition: definitions.get('writer') });
const session = await runtime.execute(sessionId, sendMessage('Write a haiku.'));
console.log(session.definition.tools, session.state.systemPrompt, session.state.finalResponse);
// => [ 'search', 'read' ] You write well, and briefly. Gladly.
