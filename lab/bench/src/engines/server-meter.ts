import { Redis } from 'ioredis';

/** The work and the memory of a server so far. */
export interface ServerFigures {
  /** Milliseconds of CPU. */
  readonly cpu: number;
  /** All commands, those inside of scripts too. */
  readonly commands: number;
  /** Bytes of memory. */
  readonly memory: number;
}

/** Reads the figures of a Redis server. */
export class ServerMeter {
  readonly url: string;
  private readonly client: Redis;

  constructor(url: string) {
    this.url = url;
    this.client = new Redis(url);
  }

  async read(): Promise<ServerFigures> {
    const info = await this.client.info('cpu', 'stats', 'memory', 'commandstats');
    const number = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
    const calls = [...info.matchAll(/^cmdstat_\S+?:calls=(\d+)/gm)].map(([, count]) => Number(count));
    return {
      cpu: (number('used_cpu_sys') + number('used_cpu_user')) * 1_000,
      commands: calls.reduce((sum, count) => sum + count, 0),
      memory: number('used_memory'),
    };
  }

  /** The calls of each command so far. */
  async calls(): Promise<ReadonlyMap<string, number>> {
    const info = await this.client.info('commandstats');
    const lines = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)];
    return new Map(lines.map(([, name = '', calls]) => [name, Number(calls)]));
  }

  close(): void {
    this.client.disconnect();
  }
}
