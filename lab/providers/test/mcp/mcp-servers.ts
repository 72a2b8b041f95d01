import { createMCPClient, type MCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Real MCP servers, each in a process of its own, and their clients. */

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const FILESYSTEM = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
);

const RUDE = fileURLToPath(new URL('rude-server.ts', import.meta.url));

const clients: MCPClient[] = [];
const processes: ChildProcess[] = [];

/** Closes the clients of a test and ends its servers. */
export async function stopMcp(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  const ended = processes.splice(0).map(async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  });
  await Promise.all(ended);
}

/** The reference server with every feature, over stdio. */
export async function everythingOverStdio(folder: string): Promise<Connection> {
  const { client, pid } = await clientOf(folder, [EVERYTHING, 'stdio']);
  return { client, kill: async () => void process.kill(pid, 'SIGKILL') };
}

/** A server that misbehaves in a way, over stdio, and the id of its process. */
export function rudeOverStdio(folder: string, way: string): Promise<ClientOfProcess> {
  return clientOf(folder, ['--no-warnings', RUDE, way]);
}

/** A client, and the id of the process of its server. */
export interface ClientOfProcess {
  readonly client: MCPClient;
  readonly pid: number;
}

/** Starts a server with these arguments of Node.js. The shell writes the id of its process to a file of the folder. */
async function clientOf(folder: string, args: readonly string[]): Promise<ClientOfProcess> {
  const pidFile = join(folder, 'pid');
  const transport = new Experimental_StdioMCPTransport({
    command: 'sh',
    args: ['-c', 'echo $$ > "$0"; exec "$@"', pidFile, process.execPath, ...args],
    stderr: 'ignore',
  });
  const client = await connected(transport);
  return { client, pid: Number(await readFile(pidFile, 'utf8')) };
}

/** A client, and a function that kills its server. */
export interface Connection {
  readonly client: MCPClient;
  readonly kill: () => Promise<void>;
}

/** The reference server with every feature, over streamable HTTP. */
export async function everythingOverHttp(): Promise<Connection> {
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  processes.push(server);
  for await (const line of createInterface(server.stderr)) if (line.includes('listening')) break;
  server.stderr.resume();
  const client = await connected({ type: 'http', url: `http://127.0.0.1:${port}/mcp` });
  const kill = async (): Promise<void> => {
    server.kill('SIGKILL');
  };
  return { client, kill };
}

/** The reference server for files, over stdio. */
export function filesystemOverStdio(folder: string): Promise<MCPClient> {
  return connected(
    new Experimental_StdioMCPTransport({
      command: process.execPath,
      args: [FILESYSTEM, folder],
      stderr: 'ignore',
    }),
  );
}

async function connected(transport: Parameters<typeof createMCPClient>[0]['transport']): Promise<MCPClient> {
  const client = await createMCPClient({ transport });
  clients.push(client);
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
