import { createInterface } from 'node:readline';

/** An MCP server over stdio that misbehaves in the way that its argument names. */

const [, , way = ''] = process.argv;
const object = { type: 'object', properties: {} };
let lists = 0;

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line) as Request;
  if (way === 'noise') process.stdout.write('Debug: {"jsonrpc": "2.0", "id":\n');
  if (id !== undefined) replyTo(id, method, params?.name ?? '');
}

function replyTo(id: number, method: string, name: string): void {
  if (method === 'initialize')
    return reply(id, {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'rude', version: '1' },
    });
  if (method === 'tools/list') return reply(id, { tools: tools() });
  if (method === 'tools/call') return call(id, name);
  write({ id, error: { code: -32601, message: `Unknown method ${method}.` } });
}

function tools(): readonly object[] {
  lists++;
  if (way === 'twice') return [named('act', 'The first.'), named('act', 'The second.')];
  if (way === 'text schema') return [{ ...named('act'), inputSchema: { type: 'string' } }];
  if (way === 'no schema') return [{ name: 'act' }];
  if (way === 'changes') return lists === 1 ? [named('act')] : [named('other')];
  return [named('act')];
}

function named(name: string, description = 'Acts.'): object {
  return { name, description, inputSchema: object };
}

function call(id: number, name: string): void {
  if (way === 'dies') process.exit(1);
  if (way === 'silent') return;
  if (way === 'garbage') return void process.stdout.write(`{"id":${id},"result":\n`);
  if (way === 'changes' && (name === 'act') !== lists < 2)
    return write({ id, error: { code: -32602, message: `Tool ${name} not found` } });
  const text = way === 'large' ? 'x'.repeat(10_000_000) : 'Done.';
  reply(id, { content: [{ type: 'text', text }] });
}

function reply(id: number, result: object): void {
  write({ id, result });
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
