import { RawNumber } from '../../shared/contract/raw-number.ts';
import { time } from '../../shared/seams/time.ts';
import type { Client } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import { ForeignPath } from '../files/client-directories.ts';
import { createConcurrencyLimit } from '../files/concurrency-limit.ts';
import type { ClientLoad } from '../placement/client-load.ts';

const PARALLEL_LOOKS = 16;

/** Lists the clients of an app with what each has to do; null when a link stands where they should be. */
export function createListClients({ clients, load }: { clients: Clients; load: ClientLoad }) {
  const run = createConcurrencyLimit(PARALLEL_LOOKS);

  return async function listClients(app: number) {
    const roster = await clients.roster(app, { fresh: true }).catch(unlessForeign);
    if (roster === null) return null;
    const entries = await Promise.all(roster.clients.map((client) => run(() => entryOf(client))));
    return { clients: entries, skipped: roster.skipped };
  };

  async function entryOf(client: Client) {
    const { address, lane, registered, online, dialect, sdk, dryRun, lastHeartbeat, beatAt, loadedVersion } = client;
    const state = (await load.isRunning(client)) ? 'busy' : online ? 'online' : 'offline';
    const hasBeaten = beatAt > 0;
    return {
      ...{ address, lane, registered, state, dialect, sdk, dryRun },
      lastHeartbeat: hasBeaten ? BigInt(Math.trunc(lastHeartbeat)) : null,
      heartbeatAgeMs: hasBeaten ? Math.max(0, Math.round(time.now() - beatAt)) : null,
      loadedVersion: loadedVersion === null ? null : new RawNumber(loadedVersion),
      open: await load.openAt(client),
    };
  }
}

function unlessForeign(error: unknown): null {
  if (error instanceof ForeignPath) return null;
  throw error;
}
