import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Endpoint } from '../../runtime/settings/redis-url.ts';

/** The address of the master in the view of one Sentinel or one node of a Cluster. The greater epoch is the newer view. */
export type View = { master: Endpoint; epoch: number; others: Endpoint[] };

/** `byName`: nodes are reached by their announced names, which their certificates carry. */
type Asked = { at: Endpoint; prefix: string; byName: boolean };
type Node = { endpoint: Endpoint; flags: string[]; epoch: number; slots: string[] };

/** Asks a node of a Cluster which node has the slot of a prefix. */
export async function askClusterNode(redis: Redis, { at, prefix, byName }: Asked): Promise<View> {
  const [text, slotReply] = await Promise.all([redis.cluster('NODES'), redis.cluster('KEYSLOT', prefix)]);
  const slot = z.coerce.number().parse(slotReply);
  const nodes = z
    .string()
    .parse(text)
    .trim()
    .split('\n')
    .map((line) => readNode(line, at, byName));
  const owner = nodes.find(({ flags, slots }) => flags.includes('master') && slots.some((range) => holds(range, slot)));
  if (!owner) throw new Error(`no node of the Cluster has slot ${slot} of ${prefix}`);
  const reachable = nodes.filter(({ flags }) => !flags.includes('noaddr') && !flags.includes('handshake'));
  return { master: owner.endpoint, epoch: owner.epoch, others: reachable.map(({ endpoint }) => endpoint) };
}

/** One line of CLUSTER NODES: id, ip:port@bus[,name], flags, its master, ping, pong, epoch, link, slots. */
function readNode(line: string, asked: Endpoint, byName: boolean): Node {
  const [, address = '', flags = '', , , , epoch = '0', , ...slots] = line.split(' ');
  const [place = '', name = ''] = address.split(',');
  const withoutBus = place.split('@')[0] ?? '';
  const port = Number(withoutBus.slice(withoutBus.lastIndexOf(':') + 1));
  const ip = withoutBus.slice(0, withoutBus.lastIndexOf(':'));
  // A node that no other node has contacted does not know its own address.
  const host = (byName && name !== '' && name !== '?' ? name : ip) || asked.host;
  return { endpoint: { host, port }, flags: flags.split(','), epoch: Number(epoch), slots };
}

/** Migrating slots follow the ranges in brackets. */
function holds(range: string, slot: number): boolean {
  const [first = '', last = first] = range.split('-');
  return /^\d+$/.test(first) && Number(first) <= slot && slot <= Number(last);
}
