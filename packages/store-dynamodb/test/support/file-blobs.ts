import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { BlobStore } from '@holdfast/store-dynamodb';

type Operation = 'put' | 'get' | 'delete';

/** A blob store of files in a folder. */
export class FileBlobs implements BlobStore {
  /** The operations in order. */
  readonly operations: Operation[] = [];
  /** Runs before each operation. A rejection fails the operation. */
  fault: ((operation: Operation, key: string) => Promise<unknown>) | undefined;
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.began('put', key);
    const path = this.pathOf(key);
    await mkdir(dirname(path), { recursive: true });
    const written = `${path}-${randomUUID()}`;
    await writeFile(written, bytes);
    await rename(written, path);
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    await this.began('get', key);
    return readFile(this.pathOf(key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
  }

  async delete(key: string): Promise<void> {
    await this.began('delete', key);
    await rm(this.pathOf(key), { force: true });
  }

  /** The keys of all stored blobs. */
  async keys(): Promise<string[]> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(this.folder, join(parentPath, name)).replaceAll(sep, '/'));
  }

  pathOf(key: string): string {
    return join(this.folder, key);
  }

  private async began(operation: Operation, key: string): Promise<void> {
    this.operations.push(operation);
    await this.fault?.(operation, key);
  }
}
