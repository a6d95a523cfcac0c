import type { RequestContent } from '../../../shared/contract/client-files.ts';

/** The hints of a registration about how its client writes. */
export type RegistrationHead = { dialect: string | null; hasStartTime: boolean; hasLoadedVersion: boolean };

/** How one kind of client writes requests and results, and in what else it differs from the others. */
export type Dialect = {
  /** Whether a client that registers like this speaks it. */
  recognises(registration: RegistrationHead): boolean;
  /** The name a client's files and directory go by. */
  directoryNameOf(address: string): string;
  /** The members of a request file, in order; values are JSON text. */
  requestMembers(content: RequestContent, createAt: number): [key: string, raw: string][];
  /** The member of a result that carries the data object. */
  dataField: string;
  /** A name at the top level of the input that its SDKs keep for themselves. */
  reservedKey: string | null;
  /** Other servers clean its directories, so one of its clients must never have an empty one, not for a moment. */
  isSharedWithCleaners: boolean;
  /** Its clients cannot beat while they run a rule, and other servers take one that runs for long for dead. */
  isSilentWhileRunning: boolean;
};
