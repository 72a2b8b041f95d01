import { build } from 'esbuild';
import { join } from 'node:path';

/** The bytes of the chat transport in the bundle of a page, minified and without the AI SDK. It does without core. */
const LIMIT = 30_000;

/** Bundles the chat transport as a page does. @throws Error for a bundle that is too large. */
export async function checkPageBundle(project: string): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(project, 'node_modules/@holdfast/ui-ai-sdk/dist/transport.js')],
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['ai'],
    write: false,
  });
  const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
  if (bytes > LIMIT)
    throw new Error(`The chat transport adds ${bytes} bytes to a page; the limit is ${LIMIT}.`);
}
