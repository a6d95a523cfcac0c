import { join } from 'node:path';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import { type Warning, warning } from '../../shared/contract/warning.ts';
import { time } from '../../shared/ports/time.ts';
import type { Client } from '../clients/client.ts';

/** After so long, a client whose rights were put in order is tried again. */
const REMEMBERED_MS = 5000;
const MAX_REMEMBERED = 1000;
const NAMED_AT_MOST = 5;

export type UnwritableClients = ReturnType<typeof createUnwritableClients>;

/** Clients to whom no request could be written a moment ago: others are asked first. `onNoted`: another one was passed over. */
export function createUnwritableClients({ onNoted }: { onNoted: () => void }) {
  const known = new Map<string, { warning: Warning; until: number }>();
  const keyOf = ({ app, directoryName }: Client) => join(String(app), directoryName);

  function warningOf(client: Client): Warning | undefined {
    if (known.size === 0) return undefined;
    const found = known.get(keyOf(client));
    return found && time.monotonic() < found.until ? found.warning : undefined;
  }

  return {
    /** A request could not be written, for the reason in this refusal. */
    note(client: Client, { params: { why = 'internal' } }: NoAnswer): void {
      if (known.size >= MAX_REMEMBERED) known.clear();
      const { address, app, directoryName: directory } = client;
      const passedOver = warning('client-passed-over', { address, app, directory, why });
      known.set(keyOf(client), { warning: passedOver, until: time.monotonic() + REMEMBERED_MS });
      onNoted();
    },

    has: (client: Client): boolean => warningOf(client) !== undefined,

    /** Warns the caller that none of these was chosen. `tried`: the execution itself could not be written there, however long ago. */
    warningsAbout(clients: () => Client[], tried: ReadonlySet<string>): Warning[] {
      if (known.size === 0) return [];
      const about = (client: Client) =>
        tried.has(client.directoryName) ? known.get(keyOf(client))?.warning : warningOf(client);
      return clients()
        .flatMap((client) => about(client) ?? [])
        .slice(0, NAMED_AT_MOST);
    },
  };
}
