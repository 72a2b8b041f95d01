import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** The written bytes so far, and the commands. */
export interface Counts {
  readonly bytes: number;
  /** Of the server, those inside of scripts too; or of the system. */
  readonly commands: number;
  /** Of the commands, those that run a script. */
  readonly scripts: number;
}

/** Counts the costs of saves at the place of a store. */
export interface Counters {
  read(): Promise<Counts>;
  /** The stored bytes at the end. */
  stored(): Promise<number>;
  close(): void;
}

const SCAN_COUNT = 1_000;

/** The counters of the server, and the memory of one of its databases. */
export class RedisCounters implements Counters {
  private readonly client: Redis;

  constructor(url: string) {
    this.client = new Redis(url);
  }

  async read(): Promise<Counts> {
    const info = await this.client.info('stats', 'commandstats');
    const bytes = Number(/^total_net_input_bytes:(\d+)/m.exec(info)?.[1]);
    let [commands, scripts] = [0, 0];
    for (const [, name = '', calls] of info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)) {
      commands += Number(calls);
      if (name === 'eval' || name === 'evalsha') scripts += Number(calls);
    }
    return { bytes, commands, scripts };
  }

  async stored(): Promise<number> {
    const { client } = this;
    let [cursor, bytes] = ['0', 0];
    do {
      const [next, keys] = await client.scan(cursor, 'COUNT', SCAN_COUNT);
      const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)));
      bytes += sizes.reduce<number>((sum, size) => sum + Number(size), 0);
      cursor = next;
    } while (cursor !== '0');
    return bytes;
  }

  close(): void {
    this.client.disconnect();
  }
}

/** The calls of each command of the server, and their microseconds in all. A script includes the commands that it calls. */
export interface CommandTime {
  readonly calls: number;
  readonly time: number;
}

/** The work of the server since its statistics were reset. */
export async function commandTimes(client: Redis): Promise<ReadonlyMap<string, CommandTime>> {
  const info = await client.info('commandstats');
  const lines = info.matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm);
  return new Map(
    [...lines].map(([, name = '', calls, time]) => [name, { calls: Number(calls), time: Number(time) }]),
  );
}

/** Counts the writes of this process, and the size of a folder. For a store that does all of its work before it returns. */
export class FileCounters implements Counters {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async read(): Promise<Counts> {
    const io = readFileSync('/proc/self/io', 'utf8');
    const number = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(io)?.[1]);
    return { bytes: number('wchar'), commands: number('syscw'), scripts: 0 };
  }

  async stored(): Promise<number> {
    const files = readdirSync(this.folder).map((name) => statSync(join(this.folder, name)).size);
    return files.reduce((sum, size) => sum + size, 0);
  }

  close(): void {}
}
