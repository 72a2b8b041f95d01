import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A file that the server hands out from memory. */
export interface Asset {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Changes when the content does. */
  readonly etag: string;
}

const script = fileURLToPath(new URL('../client/main.tsx', import.meta.url));
const styles = fileURLToPath(new URL('../client/app.css', import.meta.url));
const contentTypes = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };

/** The paths of the page's files. */
export const ASSET_PATHS = ['/', '/app.js', '/app.css'] as const;

export type AssetPath = (typeof ASSET_PATHS)[number];

/** Returns the function that returns a file of the page. It builds script and styles in memory when the first is requested. */
export function clientFiles(): (path: AssetPath) => Promise<Asset | undefined> {
  let built: Promise<ReadonlyMap<string, Asset>> | undefined;
  return async (path) => {
    if (path === '/') return asset(Buffer.from(page), 'text/html; charset=utf-8');
    return (await (built ??= bundleClient())).get(path);
  };
}

async function bundleClient(): Promise<ReadonlyMap<string, Asset>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: script, out: 'app' },
      { in: styles, out: 'app' },
    ],
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    jsx: 'automatic',
    conditions: ['@holdfast/source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const assets = Object.entries(contentTypes).flatMap(([extension, contentType]) => {
    const file = outputFiles.find(({ path }) => path.endsWith(extension));
    return file ? [[`/app${extension}`, asset(file.contents, contentType)] as const] : [];
  });
  return new Map(assets);
}

function asset(body: Uint8Array, contentType: string): Asset {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, contentType, etag };
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M11 8v16M21 8v16M11 16h10' stroke='white' stroke-width='3.4' stroke-linecap='round'/%3E%3C/svg%3E";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Holdfast playground</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/app.css">
<script type="module" blocking="render" src="/app.js"></script>
</head>
<body>
<div id="root"></div>
<noscript>The playground needs JavaScript.</noscript>
</body>
</html>
`;
