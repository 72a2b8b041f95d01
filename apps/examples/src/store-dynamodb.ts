import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { AgentSession } from '@holdfast/core';
import { DynamoDbSessionStore, tableDefinition } from '@holdfast/store-dynamodb';

const client = new DynamoDBClient();
await client.send(new CreateTableCommand(tableDefinition('sessions'))); // once

const store = new DynamoDbSessionStore({ client, table: 'sessions' });
const session = await store.create(AgentSession.create({ definition: { name: 'writer' } }));
const next = session.withState(session.state.withUserMessage('Hello'));
const saved = await store.save(next, { base: session });
const { sessions } = await store.list({ agentName: 'writer' });
console.log(
  saved.version,
  sessions.map(({ agentName }) => agentName),
); // => 2 [ 'writer' ]
