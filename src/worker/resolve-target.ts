import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/errno.ts';
import { type NoAnswer, noAnswer } from '../shared/outcomes.ts';
import { formatTarget, type Target } from '../shared/target.ts';
import { isPlainName, MADE_BY_US, mockDirectory, openFileName, readFileName } from './channel/file-names.ts';
import { type Client, type Clients, directoryOnly } from './directory/clients.ts';
import { refusals } from './refusals.ts';

/** The client an execution goes to (`unknown`: nobody heard of the address; its directory is made), or why there is none. */
export type Resolution = { kind: 'client'; client: Client; unknown: boolean } | { kind: 'refused'; noAnswer: NoAnswer };

type Dependencies = {
  clients: Clients;
  sharedDir: string /** Executions open at a client, as far as this worker knows. */;
  openAt: (app: number, directoryName: string) => number;
};

export type ResolveTarget = ReturnType<typeof createResolveTarget>;

/** Chooses one client for a target: an online one, the least busy, the one heard of last. */
export function createResolveTarget({ clients, sharedDir, openAt }: Dependencies) {
  return async function resolveTarget(app: number, target: Target): Promise<Resolution> {
    const known = await choose(app, target, await clients.list(app));
    // A refusal is only given after a fresh look: the client may have come a moment ago.
    return known.kind === 'client' ? known : choose(app, target, await clients.list(app, { fresh: true }));
  };

  async function choose(app: number, target: Target, all: Client[]): Promise<Resolution> {
    switch (target.kind) {
      case 'address':
        return byAddress(app, target, all);
      case 'lane':
        return leastBusy(app, target, await available(all.filter(({ lane }) => lane === target.lane)), all);
      case 'all': {
        const registered = await available(all.filter((client) => client.registered));
        const trunk = registered.filter(({ lane }) => lane === null);
        const candidates = trunk.length > 0 ? trunk : registered.length > 0 ? registered : await directoriesOnly(all);
        return leastBusy(app, target, candidates, all);
      }
    }
  }

  async function byAddress(app: number, { address }: { address: string }, all: Client[]): Promise<Resolution> {
    const named = all.filter((client) => client.address === address || client.directoryName === address);
    const [client] = await available(named);
    if (client) return { kind: 'client', client, unknown: false };
    if (named.length > 0) return refuse('client-offline', `Client ${address} is offline. ${whoIsOnline(app, all)}`);
    if (!isPlainName(address)) {
      const error = `"address:${address}" names no registered client of app ${app}, and an address without a registration is 1 to 200 bytes without slashes, a leading dot or ".."`;
      return { kind: 'refused', noAnswer: refusals.badRequest('target', error) };
    }
    if (all.some(({ registered }) => registered)) {
      return refuse('no-client', `App ${app} has no client ${address}. ${whoIsOnline(app, all)}`);
    }
    return { kind: 'client', client: directoryOnly(app, address), unknown: true };
  }

  function leastBusy(app: number, target: Target, candidates: Client[], all: Client[]): Resolution {
    const ranked = candidates.map((client) => ({ client, open: openAt(app, client.directoryName) }));
    const [client] = ranked
      .sort((a, b) => a.open - b.open || b.client.lastHeartbeat - a.client.lastHeartbeat)
      .map((entry) => entry.client);
    if (client) return { kind: 'client', client, unknown: false };
    const what =
      target.kind === 'all'
        ? `App ${app} has no client online`
        : `App ${app} has no client online for "${formatTarget(target)}"`;
    return refuse('no-client', `${what}. ${whoIsOnline(app, all)}`);
  }

  /** Online clients, and those whose heartbeat stands still because they are running a rule right now. */
  async function available(candidates: Client[]): Promise<Client[]> {
    const online = candidates.filter(({ online }) => online);
    if (online.length > 0) return online;
    const busy = await Promise.all(candidates.map(isRunning));
    return candidates.filter((_, index) => busy[index]);
  }

  /** Whether one of the client's open executions was picked up: published SDKs cannot beat while they run. */
  async function isRunning({ app, directoryName }: Client): Promise<boolean> {
    const names = await readdir(join(mockDirectory(sharedDir, app), directoryName)).catch(unless('ENOENT', 'ENOTDIR'));
    const requests = new Set(
      names?.map((name) => readFileName(name)).flatMap((file) => (file?.kind === 'request' ? [file.mockId] : [])),
    );
    return (names ?? []).some(
      (name) => name.endsWith('.open') && ![...requests].some((mockId) => name === openFileName(mockId)),
    );
  }

  /** Directories somebody made; those we made for an address nobody answered at do not count. */
  async function directoriesOnly(all: Client[]): Promise<Client[]> {
    const candidates = all.filter(({ registered }) => !registered);
    const ours = await Promise.all(
      candidates.map(async ({ app, directoryName }) =>
        (await readdir(join(mockDirectory(sharedDir, app), directoryName)).catch(() => [MADE_BY_US])).includes(
          MADE_BY_US,
        ),
      ),
    );
    return candidates.filter((_, index) => !ours[index]);
  }
}

function refuse(code: 'no-client' | 'client-offline', error: string): Resolution {
  return { kind: 'refused', noAnswer: noAnswer(code, error, { mayHaveRun: false }) };
}

const NAMED_AT_MOST = 10;

function whoIsOnline(app: number, all: Client[]): string {
  const online = all.filter((client) => client.online && (client.registered || isPlainName(client.address)));
  if (online.length === 0) return `Nobody is online for app ${app}: start a client, or check its SHARED_DIR.`;
  const names = online
    .slice(0, NAMED_AT_MOST)
    .map(({ address, lane }) => (lane === null ? address : `${address} (lane ${lane})`));
  const rest = online.length - names.length;
  return `Online: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
}
