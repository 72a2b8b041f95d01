import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { RedisServer } from './redis-server.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const NODES = 6;

/** A Cluster of three masters with a replica each. */
export class RedisCluster {
  readonly servers: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
  }

  static async start(): Promise<RedisCluster> {
    const servers: RedisServer[] = [];
    for (let count = 0; count < NODES; count++) {
      const timeout = ['--cluster-node-timeout', '1000', '--cluster-port', String(await freePort())];
      servers.push(await RedisServer.start({ args: ['--cluster-enabled', 'yes', ...timeout] }));
    }
    const cluster = new RedisCluster(servers);
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
    await run('redis-cli', ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes']);
    await cluster.healed(NODES / 2);
    return cluster;
  }

  get nodes(): { readonly host: string; readonly port: number }[] {
    return this.servers.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** Waits until every running server knows a master of every slot, and a number of replicas that are up to date. */
  async healed(replicas: number): Promise<void> {
    await until('the cluster is whole', async () => {
      const states = await this.each(async (node) => [
        await node.cluster('INFO'),
        await node.info('replication'),
      ]);
      const linked = states.filter(([, replication]) => replication?.includes('master_link_status:up'));
      return states.every(([info]) => info?.includes('cluster_state:ok')) && linked.length === replicas;
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  /** Calls a function for each running server, one after the other. */
  async each<T>(ask: (node: Redis, server: RedisServer) => Promise<T>): Promise<T[]> {
    const answers: T[] = [];
    for (const server of this.servers) {
      if (!server.isRunning) continue;
      const node = new Redis(server.port);
      answers.push(await ask(node, server).finally(() => node.disconnect()));
    }
    return answers;
  }

  /** The masters in the order of their ports, with their slots. */
  async masters(): Promise<readonly { readonly id: string; readonly server: RedisServer }[]> {
    const all = await this.each(async (node, server) => {
      const [role] = await node.role();
      return { id: await node.cluster('MYID'), server, isMaster: role === 'master' };
    });
    return all.filter(({ isMaster }) => isMaster);
  }

  /** The running server that considers itself the master of a slot. */
  async masterOf(slot: number): Promise<RedisServer | undefined> {
    const owners = await this.each(async (node, server) => {
      const isOwner = owns(String(await node.cluster('NODES')), slot);
      return isOwner ? [server] : [];
    });
    return owners.flat()[0];
  }

  /**
   * Moves a slot with all its keys from its master to another master.
   * @param onCopied called when the other master has the keys, and the slot is not its own yet
   */
  async move(
    slot: number,
    to: { readonly id: string; readonly server: RedisServer },
    onCopied?: () => Promise<void>,
  ): Promise<boolean> {
    const masters = await this.masters();
    const clients = masters.map(({ id, server }) => ({ id, server, node: new Redis(server.port) }));
    try {
      const target = clients.find(({ id }) => id === to.id);
      const owners = await Promise.all(
        clients.map(async ({ node }) => owns(String(await node.cluster('NODES')), slot)),
      );
      const source = clients[owners.indexOf(true)];
      if (!target || !source || source === target) return false;
      await target.node.cluster('SETSLOT', slot, 'IMPORTING', source.id);
      await source.node.cluster('SETSLOT', slot, 'MIGRATING', target.id);
      for (;;) {
        const keys = await source.node.cluster('GETKEYSINSLOT', slot, 10);
        if (keys.length === 0) break;
        const { port } = target.server;
        await source.node.migrate('127.0.0.1', port, '', 0, 5_000, 'KEYS', ...keys);
      }
      await onCopied?.();
      for (const { node } of [target, source, ...clients])
        await node.cluster('SETSLOT', slot, 'NODE', target.id);
      return true;
    } finally {
      for (const { node } of clients) node.disconnect();
    }
  }
}

/** True when the node of this reply considers itself the master of the slot. */
function owns(nodes: string, slot: number): boolean {
  const line = nodes.split('\n').find((text) => text.includes('myself'));
  const ranges = line?.split(' ').slice(8) ?? [];
  return ranges.some((range) => {
    const [first = '', last = first] = range.split('-');
    return !range.startsWith('[') && Number(first) <= slot && slot <= Number(last);
  });
}
