export type Endpoint = { host: string; port: number };

/** A Redis as its URL names it: one server, the master that Sentinels name, or the node of a Cluster that has our slot. */
export type RedisUrl = {
  kind: 'single' | 'sentinel' | 'cluster';
  /** The server itself; the Sentinels; or some nodes of the Cluster. */
  endpoints: Endpoint[];
  /** The name of the master at its Sentinels; empty for the other kinds. */
  masterName: string;
  username: string | undefined;
  password: string | undefined;
  database: number;
  usesTls: boolean;
  /** The IP version to use, 0 for any. */
  family: number;
};

const URL_PARTS =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^:@/]*)(?::(.*))?@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?family=([046]))?$/;
const ENDPOINT = /^(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/;

/** Reads a redis:// URL, one with +sentinel or +cluster, or one with TLS (rediss). Undefined when it is not one of them. */
export function parseRedisUrl(text: string): RedisUrl | undefined {
  const parts = URL_PARTS.exec(text);
  if (!parts) return undefined;
  const [, protocol, form, username = '', password, hosts = '', path = '', family] = parts;
  const kind = form === 'sentinel' || form === 'cluster' ? form : 'single';
  const endpoints = endpointsIn(hosts, kind === 'sentinel' ? 26_379 : 6379);
  const place = placeIn(path, kind);
  if (!endpoints || !place || (kind === 'single' && endpoints.length > 1)) return undefined;
  const credentials = { username: decoded(username), password: decoded(password ?? '') };
  return { kind, endpoints, ...place, ...credentials, usesTls: protocol === 'rediss', family: Number(family ?? 0) };
}

/** The address without credentials. */
export function describeRedis({ kind, endpoints, masterName, database, usesTls }: RedisUrl): string {
  const form = kind === 'single' ? '' : `+${kind}`;
  const hosts = endpoints.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  const path = [masterName, ...(database > 0 ? [database] : [])].filter((part) => part !== '').join('/');
  return `redis${usesTls ? 's' : ''}${form}://${hosts.join(',')}${path === '' ? '' : `/${path}`}`;
}

function endpointsIn(hosts: string, defaultPort: number): Endpoint[] | undefined {
  const endpoints: Endpoint[] = [];
  for (const text of hosts.split(',')) {
    const [, host, port = String(defaultPort)] = ENDPOINT.exec(text) ?? [];
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
    endpoints.push({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) });
  }
  return endpoints;
}

/** The path is a database; behind the name of the master for Sentinels; a Cluster has only database 0. */
function placeIn(path: string, kind: RedisUrl['kind']): { masterName: string; database: number } | undefined {
  const [first = '', ...more] = path.split('/');
  const [masterName, database = '', rest] = kind === 'sentinel' ? [first, ...more] : ['', first, ...more];
  if (rest !== undefined || !/^\d{0,4}$/.test(database)) return undefined;
  if (kind === 'sentinel' && !/^[\w.-]+$/.test(masterName)) return undefined;
  if (kind === 'cluster' && Number(database) > 0) return undefined;
  return { masterName, database: Number(database) };
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that begins no code stands for itself
  }
}
