import type { DialectName } from '../dialects/dialect.ts';
import { NO_LEAVES } from './published-leaves.ts';
import type { RegistrationFile, Sdk } from './registration.ts';

/** Somebody who runs rules: registered with a heartbeat, or just a directory under `mock/`. */
export type Client = {
  app: number;
  address: string;
  lane: string | null;
  registered: boolean;
  /** Its heartbeat is fresh. One that stands still may also be running a rule: see `ClientLoad`. */
  online: boolean;
  dialect: DialectName;
  sdk: Sdk;
  /** The name of its directory under `mock/{app}`, and of its files. */
  directoryName: string;
  /** Epoch ms by its own clock; 0 for a client that is only a directory. */
  lastHeartbeat: number;
  /** When the heartbeat was written, epoch ms by our clock; 0 for a client that is only a directory. */
  beatAt: number;
  loadedVersion: string | null;
  leafNodes: readonly unknown[];
};

/** The name a client's files and directory go by: the literal address, or for the published SDKs its safe form. */
export function directoryNameOf({ address, dialect }: Pick<RegistrationFile, 'address' | 'dialect'>): string {
  return dialect === 'ice' ? address.replace(/[:/]/g, '_') : address;
}

/** A client of which nothing is known but its directory. */
export function directoryOnly(app: number, name: string): Client {
  return {
    app,
    address: name,
    lane: null,
    registered: false,
    online: true,
    dialect: 'rule',
    sdk: 'unknown',
    directoryName: name,
    lastHeartbeat: 0,
    beatAt: 0,
    loadedVersion: null,
    leafNodes: NO_LEAVES,
  };
}
