import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const options = ['--conditions=@holdfast/source', '--disable-warning=ExperimentalWarning'];

/** What a program prints that refuses everything that Cloudflare Workers refuse outside of a request, and then does this. */
async function printed(work: string): Promise<string> {
  const program = `
    const refuse = (name) => function () { throw new Error(name + ' outside of a request'); };
    const globals = ['AbortController', 'fetch', 'setTimeout', 'setInterval', 'setImmediate'];
    for (const name of globals) globalThis[name] = refuse(name);
    for (const name of ['abort', 'any', 'timeout']) AbortSignal[name] = refuse('AbortSignal.' + name);
    for (const name of ['getRandomValues', 'randomUUID']) crypto[name] = refuse('crypto.' + name);
    ${work}`;
  const run = promisify(execFile);
  const node = [...options, '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, node, { cwd: folder });
  return stdout.trim();
}

describe('outside of a request of Cloudflare Workers', () => {
  test.each(['', '/store', '/driver', '/engine', '/spending', '/testing'])(
    '@holdfast/core%s can be imported',
    async (entry) => {
      const work = `await import('@holdfast/core${entry}'); console.log('imported');`;
      expect(await printed(work)).toBe('imported');
    },
  );

  test('an agent, its store and its runtime can be created', async () => {
    const work = `
      const { createAgentLoop, MemorySessionStore, SessionRuntime, tool } = await import('@holdfast/core');
      const look = tool({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 1 });
      const agent = createAgentLoop({ driver: { infer: () => ({ text: 'Hi.' }) }, tools: [look] });
      new SessionRuntime({ store: new MemorySessionStore(), agents: { agent } });
      console.log('made');`;
    expect(await printed(work)).toBe('made');
  });

  test.each([
    ['new AbortController()', 'AbortController'],
    ['AbortSignal.timeout(1)', 'AbortSignal.timeout'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ["(await import('@holdfast/core')).systemClock.newId()", 'crypto.getRandomValues'],
  ])('%s is refused', async (expression, name) => {
    const work = `try { ${expression}; } catch (error) { console.log(error.message); }`;
    expect(await printed(work)).toBe(`${name} outside of a request`);
  });
});
