import { assistantMessage, InProcessEngine, userMessage } from '@holdfast/core';
import { definition } from '../../src/agent.ts';
import { readCommand } from '../../src/command-line.ts';
import { openPlayground, type Playground } from '../../src/playground.ts';
import { startServer } from '../../src/server/server.ts';
import { startWork } from '../../src/server/work.ts';
import { ChatClient } from './chat-client.ts';
import { dataFolder } from './playground-process.ts';

/** A playground in this process, with its server and its worker. */
export interface Served extends AsyncDisposable {
  readonly playground: Playground;
  readonly client: ChatClient;
}

/** Serves a playground with the store in memory. */
export async function serveHere(): Promise<Served> {
  const command = readCommand(['--store', 'memory', '--port', '0', '--data', await dataFolder()], {});
  if (command.type !== 'serve') throw new Error('Not a server.');
  const playground = await openPlayground(command.settings);
  const engine = new InProcessEngine();
  const server = await startServer({ playground, engine }, 0);
  const stopWork = await startWork(playground, engine);
  return {
    playground,
    client: new ChatClient(server.url),
    async [Symbol.asyncDispose]() {
      await stopWork();
      await server.close();
      await playground.close();
    },
  };
}

/** Stores a session with this many messages of 1,000 characters each. */
export async function storeLongSession({ runtime, store }: Playground, count: number): Promise<string> {
  const text = 'word '.repeat(200);
  const messages = Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? userMessage(`${index} ${text}`) : assistantMessage(`${index} ${text}`),
  );
  const created = await runtime.create({ definition, title: 'Long' });
  const session = created.withState(created.state.withMessages(messages));
  await store.save(session);
  return session.sessionId;
}
