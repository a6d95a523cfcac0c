import type { Client } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import type { ClientLoad } from './client-load.ts';

/**
 * The clients of an app, for questions about what they publish: one that runs a rule is online as well. Clients that cannot be
 * read publish nothing; that they cannot is said where they are asked for.
 */
export function createListAlive({ clients, load }: { clients: Clients; load: ClientLoad }) {
  return async function listAlive(app: number): Promise<Client[]> {
    const all = await clients.list(app).catch(() => []);
    const running = new Set(await load.runningAmong(all.filter(({ online }) => !online)));
    return running.size === 0 ? all : all.map((client) => (running.has(client) ? { ...client, online: true } : client));
  };
}
