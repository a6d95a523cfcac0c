import type { DialectName, SdkName } from '../../shared/contract/client-kinds.ts';
import { dialects, OWN_DIALECT } from '../files/dialects/dialects.ts';
import { NO_LEAVES, type RegistrationFile } from './registration.ts';

/** A client: registered with a heartbeat, or just a directory under `mock/`. */
export type Client = {
  app: number;
  address: string;
  lane: string | null;
  registered: boolean;
  /** Its heartbeat is fresh. One that stands still may also be running a rule: see `ClientLoad`. */
  online: boolean;
  dialect: DialectName;
  sdk: SdkName;
  /** It says that it can run without effects. */
  dryRun: boolean;
  /** The name of its directory under `mock/{app}`, and of its files. */
  directoryName: string;
  /** Epoch ms by its own clock; 0 for a client that is only a directory. */
  lastHeartbeat: number;
  /** When the heartbeat was written, epoch ms by our clock; 0 for a client that is only a directory. */
  beatAt: number;
  loadedVersion: string | null;
  leafNodes: readonly unknown[];
};

/** The name a client's files and directory go by. */
export function directoryNameOf({ address, dialect }: Pick<RegistrationFile, 'address' | 'dialect'>): string {
  return dialects[dialect].directoryNameOf(address);
}

/** A client of which nothing is known but its directory. */
export function directoryOnly(app: number, name: string): Client {
  return {
    app,
    address: name,
    lane: null,
    registered: false,
    online: true,
    dialect: OWN_DIALECT,
    sdk: 'unknown',
    dryRun: false,
    directoryName: name,
    lastHeartbeat: 0,
    beatAt: 0,
    loadedVersion: null,
    leafNodes: NO_LEAVES,
  };
}
