import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { tools } from './paths.ts';

/** The members of Miniflare that the check uses. Miniflare runs a worker in `workerd`, the runtime of Cloudflare Workers. */
interface Miniflare {
  dispatchFetch(url: string): Promise<Response>;
  dispose(): Promise<void>;
}

type MiniflareModule = { readonly Miniflare: new (options: object) => Miniflare };

const SEEN = { status: 'completed', answer: 'I see stars.', errors: [] };
const STREAMED = { ...SEEN, hasText: true };

/** Runs core in `workerd`: request after request, and several at once. @throws Error when an answer is not as expected. */
export async function checkWorkers(project: string): Promise<void> {
  const worker = await started(await bundled(project));
  const ask = async (path: string): Promise<unknown> =>
    (await worker.dispatchFetch(`http://worker/${path}`)).json();
  try {
    for (const action of ['run', 'signal', 'run']) assert.deepEqual(await ask(action), SEEN, action);
    for (const _ of [1, 2]) assert.deepEqual(await ask('stream'), STREAMED);
    const atOnce = ['run', 'run', 'signal', 'stream', 'stream'].map(ask);
    assert.deepEqual(await Promise.all(atOnce), [SEEN, SEEN, SEEN, STREAMED, STREAMED]);
    await checkSessions(ask);
  } finally {
    await worker.dispose();
  }
}

/** A runtime and its store are made once, and requests share them. */
async function checkSessions(ask: (path: string) => Promise<unknown>): Promise<void> {
  assert.deepEqual(await Promise.all(['create/a', 'create/b'].map(ask)), ['a', 'b']);
  assert.deepEqual(await Promise.all(['say/a', 'say/b'].map(ask)), [SEEN, SEEN]);
  assert.deepEqual(await ask('say/a'), SEEN);
  // The second message is left to the request that works on the session, which answers it too.
  await Promise.all(['say/b', 'say/b'].map(ask));
  assert.deepEqual(await ask('get/b'), { ...SEEN, messages: 12 });
}

/** The worker as one module: a bundler is how each worker is deployed. */
async function bundled(project: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(project, 'worker.ts')],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['workerd', 'worker'],
    write: false,
  });
  return outputFiles.map(({ text }) => text).join('');
}

async function started(contents: string): Promise<Miniflare> {
  const path = createRequire(join(tools, 'package.json')).resolve('miniflare');
  const { Miniflare } = (await import(pathToFileURL(path).href)) as MiniflareModule;
  const modules = [{ type: 'ESModule', path: 'worker.js', contents }];
  return new Miniflare({ modules, compatibilityDate: '2026-01-01' });
}
