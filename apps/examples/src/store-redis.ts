import { spawn } from 'node:child_process';

// A server of its own, on a socket in the folder that the program runs in.
const socket = `${process.cwd()}/redis.sock`;
const options = ['--port', '0', '--unixsocket', socket, '--save', ''];
const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
server.unref();
process.once('exit', () => server.kill());
for await (const text of server.stdout.setEncoding('utf8'))
  if (String(text).includes('ready to accept')) break;
process.env['REDIS_URL'] = socket;

// #region store
import { AgentSession } from '@holdfast/core';
import { RedisSessionStore } from '@holdfast/store-redis';

const store = await RedisSessionStore.open({ url: process.env['REDIS_URL'] ?? 'redis://localhost' });
const session = await store.create(AgentSession.create({ definition: { name: 'writer' } }));
const next = session.withState(session.state.withUserMessage('Hello'));
const saved = await store.save(next, { base: session });
const { sessions } = await store.list({ agentName: 'writer' });
console.log(
  saved.version,
  sessions.map(({ agentName }) => agentName),
); // => 2 [ 'writer' ]
await store.close();
// #endregion
