import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';
import { type RedisProcess, startRedisProcess } from './redis-process.ts';

const NODE_TIMEOUT_MS = 1000;
const SLOTS = 16_384;

export type ClusterNode = RedisProcess & { id: string; busPort: number };

export type RedisCluster = {
  /** As an operator writes it: two of the nodes. */
  url: string;
  nodes: ClusterNode[];
  /** The master of the slot of a prefix, as most of the other nodes see it. */
  ownerOf(prefix: string, except?: ClusterNode): Promise<ClusterNode>;
  masters(): Promise<ClusterNode[]>;
  /** Moves the slot of a prefix with all its keys to another master. */
  moveSlot(prefix: string, to: ClusterNode): Promise<void>;
  command(node: ClusterNode, ...parameters: string[]): Promise<unknown>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A Cluster of masters and as many replicas, each node a process of its own. */
export async function startRedisCluster({ masters: count = 3, replicas = 3 } = {}): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: count + replicas }, (_, index) => startNode(`127.0.0.${11 + index}`)),
  );
  const command = (node: ClusterNode, ...parameters: string[]) => commandTo(node.url, parameters);
  const [first] = nodes;
  if (!first) throw new Error('no node was started');
  const port = (node: ClusterNode) => new URL(node.url).port;
  for (const node of nodes.slice(1))
    await command(first, 'CLUSTER', 'MEET', hostOf(node), port(node), String(node.busPort));
  for (const [index, node] of nodes.slice(0, count).entries()) {
    const [from, to] = [index, index + 1].map((part) => Math.floor((part * SLOTS) / count));
    await command(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
  }
  const all = (check: (node: ClusterNode) => Promise<boolean>) =>
    vi.waitFor(
      async () => {
        for (const node of nodes) if (!(await check(node))) throw new Error(`${node.url} is not there yet`);
      },
      { timeout: 60_000, interval: 50 },
    );
  await all(async (node) => String(await command(node, 'CLUSTER', 'NODES')).split('connected').length > nodes.length);
  for (const [index, node] of nodes.slice(count).entries())
    await command(node, 'CLUSTER', 'REPLICATE', nodes[index % count]?.id ?? '');
  await all(async (node) => {
    const info = String(await command(node, 'CLUSTER', 'INFO'));
    const replication = String(await command(node, 'INFO', 'replication'));
    return info.includes('cluster_state:ok') && !replication.includes('master_link_status:down');
  });

  const ownerOf = async (prefix: string, except?: ClusterNode) => {
    const asked = nodes.filter((node) => node !== except && node.isRunning());
    const slot = Number(await command(asked[0] ?? first, 'CLUSTER', 'KEYSLOT', prefix));
    const owners = await Promise.all(
      asked.map(async (node) => ownerIn(String(await command(node, 'CLUSTER', 'NODES')), slot)),
    );
    const most = owners.find((id) => owners.filter((other) => other === id).length * 2 > owners.length);
    const found = nodes.find(({ id }) => id === most);
    if (!found) throw new Error(`the nodes do not agree on who has slot ${slot}`);
    return found;
  };
  return {
    url: `redis+cluster://${nodes
      .slice(0, 2)
      .map((node) => `${hostOf(node)}:${port(node)}`)
      .join(',')}`,
    nodes,
    ownerOf,
    async masters() {
      const roles = await Promise.all(nodes.map((node) => command(node, 'ROLE')));
      return nodes.filter((_, index) => String(roles[index]).startsWith('master'));
    },
    async moveSlot(prefix, to) {
      const from = await ownerOf(prefix);
      const slot = String(await command(from, 'CLUSTER', 'KEYSLOT', prefix));
      await command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
      await command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
      for (;;) {
        const keys = (await command(from, 'CLUSTER', 'GETKEYSINSLOT', slot, '50')) as string[];
        if (keys.length === 0) break;
        await command(from, 'MIGRATE', hostOf(to), port(to), '', '0', '5000', 'KEYS', ...keys);
      }
      for (const node of [to, from]) await command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    },
    command,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

export const hostOf = ({ url }: { url: string }) => new URL(url).hostname;

/** Each has an address of its own, so that one can be cut off from the others while clients still reach it. */
async function startNode(host: string) {
  const busPort = await freePort();
  const more = [
    ...[
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(busPort),
      '--cluster-node-timeout',
      String(NODE_TIMEOUT_MS),
    ],
    ...['--cluster-allow-replica-migration', 'no', '--repl-diskless-sync-delay', '0', '--repl-timeout', '10'],
    ...['--bind-source-addr', host],
  ];
  const process = await startRedisProcess({ appendOnly: true, more, host });
  const id = String(await commandTo(process.url, ['CLUSTER', 'MYID']));
  return { ...process, busPort, id };
}

async function commandTo(url: string, [name = '', ...parameters]: string[]): Promise<unknown> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, commandTimeout: 6000, retryStrategy: () => null });
  redis.on('error', () => {});
  return redis.call(name, ...parameters).finally(() => redis.disconnect());
}

function ownerIn(text: string, slot: number): string | undefined {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const owns = (ranges: string[]) =>
    ranges.some((range) => {
      const [from = '', to = from] = range.split('-');
      return /^\d+$/.test(from) && Number(from) <= slot && slot <= Number(to);
    });
  return lines.find((fields) => owns(fields.slice(8)))?.[0];
}
