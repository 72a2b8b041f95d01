import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { outputOf } from './command.ts';
import { publishedPackages } from './manifests.ts';

const COMMENT = /^\/\/# sourceMappingURL=(\S+)$/m;

/**
 * Checks that each file of each installed package leads to its source: what "go to definition", debuggers and stack
 * traces need. @throws Error with the files that do not.
 */
export async function checkSourceMaps(project: string): Promise<void> {
  for (const { manifest } of publishedPackages()) {
    const folder = join(project, 'node_modules', manifest.name);
    const files = globSync('dist/**/*.{js,d.ts}', { cwd: folder });
    assert(files.length > 0, `${manifest.name} has no files.`);
    assert.deepEqual(
      files.filter((file) => !leadsToSources(join(folder, file), folder)),
      [],
      `Files of ${manifest.name} lack a map, or their map leads to no source.`,
    );
  }
  const core = join(project, 'node_modules/@holdfast/core');
  checkDefinition(join(core, 'dist/loop/agent-loop.d.ts'), 'export declare function createAgentLoop');
  await checkStackTrace(project);
}

function leadsToSources(file: string, folder: string): boolean {
  const map = mapOf(file);
  return (
    map !== undefined && map.sources.every((source) => isIn(join(folder, 'src'), sourceOf(file, source)))
  );
}

/** A chunk with nothing but exports has a map without sources. */
function mapOf(file: string): SourceMapPayload | undefined {
  const [, name] = COMMENT.exec(readFileSync(file, 'utf8')) ?? [];
  const path = name && join(dirname(file), name);
  return path && existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload) : undefined;
}

function sourceOf(file: string, source: string): string {
  return resolve(dirname(file), source);
}

function isIn(folder: string, path: string): boolean {
  return existsSync(path) && !relative(folder, path).startsWith('..');
}

/** Follows a declaration to its source, as "go to definition" does. */
function checkDefinition(file: string, declaration: string): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.findIndex((text) => text.startsWith(declaration));
  const column = declaration.lastIndexOf(' ') + 1;
  const map = mapOf(file);
  const entry = map && new SourceMap(map).findEntry(line, column);
  assert(entry && 'originalLine' in entry, `${declaration} is not in the map.`);
  const source = readFileSync(sourceOf(file, entry.originalSource), 'utf8').split('\n')[entry.originalLine];
  assert.match(source ?? '', /^export function createAgentLoop/);
}

/** Runs a program that fails inside of core, and looks where its stack trace leads. */
async function checkStackTrace(project: string): Promise<void> {
  const program = `
    const { createAgentLoop } = await import('@holdfast/core');
    try { createAgentLoop({}); } catch (error) { console.log(error.stack); }`;
  const node = [process.execPath, '--enable-source-maps', '--input-type=module', '--eval', program] as const;
  assert.match(await outputOf(node, { cwd: project }), /src\/loop\/agent-loop\.ts:\d+/);
}
