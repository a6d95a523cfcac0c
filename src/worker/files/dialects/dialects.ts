import { type RequestContent, requestMembers } from '../../../shared/contract/client-files.ts';
import { type DialectName, dialectNames } from '../../../shared/contract/client-kinds.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';

/** The hints of a registration about how its client writes. */
type RegistrationHead = { dialect: string | null; hasStartTime: boolean; hasLoadedVersion: boolean };

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

/** Our own dialect: the names of the interface. Absent ids and times are left out, never null. */
const ruleDialect: Dialect = {
  recognises: () => true,
  directoryNameOf: (address) => address,
  requestMembers,
  dataField: DATA_FIELD,
  reservedKey: null,
  isSharedWithCleaners: false,
  isSilentWhileRunning: false,
};

/** The dialect of the published Java, Go and Python SDKs. An explicit null breaks the Python one, so nothing is ever null. */
const iceDialect: Dialect = {
  recognises: ({ dialect, hasStartTime, hasLoadedVersion }) => hasStartTime && hasLoadedVersion && dialect !== 'rule',
  directoryNameOf: (address) => address.replace(/[:/]/g, '_'),
  requestMembers({ mockId, app, ruleId, confId, ts, debug, scene, input }, createAt) {
    return [
      ['mockId', JSON.stringify(mockId)],
      ['app', String(app)],
      ...(ruleId === null ? [] : [['iceId', ruleId] as [string, string]]),
      ...(confId === null ? [] : [['confId', confId] as [string, string]]),
      // Only beside a rule, which counts before it: alone it would choose one.
      ...(scene === undefined || ruleId === null ? [] : [['scene', JSON.stringify(scene)] as [string, string]]),
      ...(ts === null ? [] : [['ts', ts] as [string, string]]),
      ...(debug === undefined ? [] : [['debug', String(debug)] as [string, string]]),
      ['roam', input],
      ['createAt', String(createAt)],
    ];
  },
  dataField: 'roam',
  reservedKey: '_ice',
  isSharedWithCleaners: true,
  isSilentWhileRunning: true,
};

/**
 * The dialects of clients. A new one is added here, to the names in `contract/client-kinds.ts`, and to the SDKs that
 * write it (`sdks.ts`). One that is recognised by a new field of registrations also touches `clients/registration.ts`. A new SDK has a name on
 * the page: `sdkKey` in `console/screen/input/target.tsx`.
 */
export const dialects: Record<DialectName, Dialect> = { rule: ruleDialect, ice: iceDialect };

/** The dialect of a client that says nothing about itself. */
export const OWN_DIALECT: DialectName = 'rule';

/** The dialect that a registration is written in: ours when no other one is recognised. */
export function dialectOf(registration: RegistrationHead): DialectName {
  const others = dialectNames.filter((name) => name !== OWN_DIALECT);
  return others.find((name) => dialects[name].recognises(registration)) ?? OWN_DIALECT;
}
