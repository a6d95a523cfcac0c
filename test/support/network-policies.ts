import { z } from 'zod';

/** A pod, or what has an address outside of the cluster, as a NetworkPolicy tells them apart. */
export type Peer =
  | { kind: 'pod'; namespace: string; labels: Record<string, string>; ports?: Record<string, number> }
  | { kind: 'address'; address: string };

const selector = z.strictObject({ matchLabels: z.record(z.string(), z.string()).optional() });
const peer = z.strictObject({
  podSelector: selector.optional(),
  namespaceSelector: selector.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).optional() }).optional(),
});
const port = z.strictObject({ port: z.union([z.string(), z.int()]), protocol: z.enum(['TCP', 'UDP']).default('TCP') });
const ingressRule = z.strictObject({ ports: z.array(port).optional(), from: z.array(peer).optional() });
const egressRule = z.strictObject({ ports: z.array(port).optional(), to: z.array(peer).optional() });

/** What these charts use of networking.k8s.io/v1. Anything else is refused here, so that it is not passed over. */
export const networkPolicySchema = z.object({
  kind: z.literal('NetworkPolicy'),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(ingressRule).optional(),
    egress: z.array(egressRule).optional(),
  }),
});
export type NetworkPolicy = z.output<typeof networkPolicySchema>;

type Connection = { from: Peer; to: Peer; port: number; protocol?: 'TCP' | 'UDP' };
type Rule = { ports: z.output<typeof port>[] | undefined; peers: z.output<typeof peer>[] | undefined };

/** Whether policies of this namespace let one reach the other: both sides must, and who is under no policy always does. */
export function mayReach(policies: NetworkPolicy[], home: string, connection: Connection): boolean {
  const { from, to } = connection;
  const leaving = about(policies, home, from, 'Egress').map(({ egress = [] }) =>
    egress.map(({ ports, to: peers }) => ({ ports, peers })),
  );
  const entering = about(policies, home, to, 'Ingress').map(({ ingress = [] }) =>
    ingress.map(({ ports, from: peers }) => ({ ports, peers })),
  );
  return allows(leaving, home, connection, to) && allows(entering, home, connection, from);
}

function about(policies: NetworkPolicy[], home: string, peer: Peer, type: 'Ingress' | 'Egress') {
  return policies
    .map(({ spec }) => spec)
    .filter(({ policyTypes, podSelector }) => policyTypes.includes(type) && isSelected(podSelector, peer, home));
}

function isSelected({ matchLabels = {} }: z.output<typeof selector>, peer: Peer, namespace: string | null): boolean {
  if (peer.kind !== 'pod' || (namespace !== null && peer.namespace !== namespace)) return false;
  return Object.entries(matchLabels).every(([name, value]) => peer.labels[name] === value);
}

function allows(policies: Rule[][], home: string, connection: Connection, other: Peer): boolean {
  if (policies.length === 0) return true;
  return policies.flat().some((rule) => isPort(rule, connection) && isPeer(rule, other, home));
}

/** A port may have a name: of a port of the pod that is reached. */
function isPort({ ports }: Rule, { to, port: wanted, protocol = 'TCP' }: Connection): boolean {
  if (ports === undefined || ports.length === 0) return true;
  const numberOf = (named: string | number) =>
    typeof named === 'number' ? named : to.kind === 'pod' ? to.ports?.[named] : undefined;
  return ports.some((one) => one.protocol === protocol && numberOf(one.port) === wanted);
}

function isPeer({ peers }: Rule, other: Peer, home: string): boolean {
  if (peers === undefined || peers.length === 0) return true;
  return peers.some(({ podSelector = {}, namespaceSelector, ipBlock }) => {
    if (ipBlock) return other.kind === 'address' && isWithin(other.address, ipBlock.cidr);
    if (other.kind !== 'pod') return false;
    const { matchLabels = {} } = namespaceSelector ?? {};
    const ofNamespace: Record<string, string> = { 'kubernetes.io/metadata.name': other.namespace };
    const isThere = namespaceSelector
      ? Object.entries(matchLabels).every(([name, value]) => ofNamespace[name] === value)
      : other.namespace === home;
    return isThere && isSelected(podSelector, other, null);
  });
}

function isWithin(address: string, cidr: string): boolean {
  const [network = '', bits = '32'] = cidr.split('/');
  const size = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / size) === Math.floor(numberOf(network) / size);
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
