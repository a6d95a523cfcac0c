import { time } from '../../shared/ports/time.ts';
import { atMost, whileItRuns } from '../../shared/runtime/async.ts';
import type { Client } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import { MAY_HANG_MS } from '../files/shared-directory.ts';
import type { ClientLoad } from '../placement/client-load.ts';

/** Counting reads every registration: one count is good for this long. */
const COUNTED_MS = 10_000;

/** Clients by state. `busy`: the heartbeat stands still, because it runs a rule. `unregistered`: only a directory. */
type States = { online: number; busy: number; offline: number; unregistered: number };
/** `notPickingUp`: how many of each app that has clients let requests lie. */
type Census = { states: States; notPickingUp: ReadonlyMap<number, number> };
/** As of the last count that came to its end; undefined before the first. */
export type ClientCensus = () => Promise<Census | undefined>;

type ClientCensusDependencies = { clients: Clients; pickUps: Pick<PickUps, 'letsLie'>; load: ClientLoad };

/** Counts the clients of all apps. */
export function createClientCensus({ clients, pickUps, load }: ClientCensusDependencies): ClientCensus {
  let last: { at: number; census: Census } | undefined;

  async function count(): Promise<Census> {
    const states = { online: 0, busy: 0, offline: 0, unregistered: 0 };
    const notPickingUp = new Map<number, number>();
    for (const app of await clients.apps()) {
      const all = await clients.list(app).catch(() => []);
      for (const client of all) states[await stateOf(client)]++;
      if (all.length > 0) notPickingUp.set(app, all.filter(pickUps.letsLie).length);
    }
    return { states, notPickingUp };
  }

  async function stateOf(client: Client): Promise<keyof States> {
    if (!client.registered) return 'unregistered';
    if (client.online) return 'online';
    return (await load.isRunning(client)) ? 'busy' : 'offline';
  }

  async function countAgain(): Promise<void> {
    last = { census: await count(), at: time.now() };
  }

  const counting = whileItRuns(countAgain);
  return async () => {
    if (last && time.now() - last.at < COUNTED_MS) return last.census;
    await atMost(MAY_HANG_MS, counting());
    return last?.census;
  };
}
