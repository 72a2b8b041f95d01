import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool, type Tool } from '@holdfast/core';
import { z } from 'zod';

/** Letters, digits, `-` and `_`: a name that is a file name on every system and leads out of no folder. */
const noteName = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}$/u, 'letters, digits, "-" and "_", at most 80')
  .describe('For example: shopping-list');
const longestNote = 20_000;
const extension = '.txt';

/** A note as the model reads it. */
interface Note {
  readonly name: string;
  readonly text: string;
}

/** Writes a note: one file in the folder. A note of the same name is replaced. */
export function notebookWrite(folder: string): Tool {
  return tool({
    name: 'notebook_write',
    description: 'Writes a note for later. A note of the same name is replaced.',
    effect: 'idempotent',
    inputSchema: z.object({ name: noteName, text: z.string().min(1).max(longestNote) }),
    async execute({ name, text }, { idempotencyKey }) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unfinished = join(folder, `.${idempotencyKey}.part`);
      await writeFile(unfinished, text, { mode: 0o600 });
      await rename(unfinished, join(folder, name + extension));
      return { name, bytes: Buffer.byteLength(text) };
    },
  });
}

/** Reads one note, or all of them. */
export function notebookRead(folder: string): Tool {
  return tool({
    name: 'notebook_read',
    description: 'Reads the notes written earlier: the one named, or all of them.',
    effect: 'readOnly',
    inputSchema: z.object({ name: noteName.optional() }),
    async execute({ name }) {
      const names = name === undefined ? await namesIn(folder) : [name];
      const notes = await Promise.all(names.map((each) => read(folder, each)));
      return { notes: notes.filter((note) => note !== undefined) };
    },
  });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const files = await unlessMissing(readdir(folder));
  const names = files?.filter((file) => file.endsWith(extension) && !file.startsWith('.')) ?? [];
  return names.map((file) => file.slice(0, -extension.length)).toSorted();
}

async function read(folder: string, name: string): Promise<Note | undefined> {
  const text = await unlessMissing(readFile(join(folder, name + extension), 'utf8'));
  return text === undefined ? undefined : { name, text };
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
