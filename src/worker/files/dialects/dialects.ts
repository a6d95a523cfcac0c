import { type RequestContent, requestMembers } from '../../../shared/contract/client-files.ts';
import { type DialectName, dialectNames, type SdkName, sdkNames } from '../../../shared/contract/client-kinds.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { parseExact, scanJson } from '../../../shared/contract/json/exact-json.ts';
import { RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { type Warning, warning } from '../../../shared/contract/warning.ts';

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
 * write it (`sdks`). One that is recognised by a new field of registrations also touches `clients/registration.ts`. A new SDK has a name on
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

// The SDKs that speak them.

/** In what one SDK differs from the others of its dialect. */
type Sdk = {
  /** The dialect it speaks; null for one that no registration names. */
  dialect: DialectName | null;
  /** Whether it wrote this registration. `says`: the SDK that the registration itself names. */
  wrote(registration: { text: string; says: string | null }): boolean;
  /** When it deletes a request and finds it gone, it does not run it: what was withdrawn has not run. */
  givesUp: boolean;
  /** Its name in a warning, if it keeps numbers as 64-bit floats; null if it keeps every digit. */
  roundsAs: string | null;
  /** How the SDK reads a number that no 64-bit float holds (1e400): it keeps it, changes it, or cannot read it. */
  largeNumbers: 'kept' | 'changed' | 'unreadable';
  /** How it is called in a sentence. */
  label: string;
};

/** The published SDKs do not name themselves, but each prints JSON in its own way. The first that fits counts. */
export const sdks: Record<SdkName, Sdk> = {
  node: {
    dialect: 'rule',
    wrote: ({ says }) => says === 'node',
    givesUp: true,
    roundsAs: null,
    largeNumbers: 'kept',
    label: 'Node',
  },
  python: {
    dialect: 'ice',
    wrote: ({ text }) => /"valueNull"|"lane":\s*null|^\{"\w+": /.test(text),
    givesUp: true,
    roundsAs: null,
    largeNumbers: 'unreadable',
    label: 'Python',
  },
  java: {
    dialect: 'ice',
    wrote: ({ text }) => text.includes('"desc":""'),
    givesUp: true,
    roundsAs: null,
    largeNumbers: 'changed',
    label: 'Java',
  },
  go: {
    dialect: 'ice',
    wrote: ({ text }) => /"iceFields"|"roamKeys"/.test(text),
    givesUp: false,
    roundsAs: 'Go',
    largeNumbers: 'unreadable',
    label: 'Go',
  },
  unknown: {
    dialect: null,
    wrote: () => false,
    givesUp: false,
    roundsAs: null,
    largeNumbers: 'kept',
    label: 'unknown',
  },
};

const inOrder = Object.keys(sdks).filter((name): name is SdkName => sdkNames.some((known) => known === name));

/** The SDK that wrote a registration of this dialect, as far as that can be told. */
export function sdkOf(dialect: DialectName, registration: { text: string; says: string | null }): SdkName {
  return inOrder.find((name) => sdks[name].dialect === dialect && sdks[name].wrote(registration)) ?? 'unknown';
}

/** A number that no 64-bit float holds, such as 1e400, and its place in the input. */
type LargeNumber = { text: string; path: string };

/** The first such number in an input. */
export function largeNumberIn(input: string): LargeNumber | undefined {
  // Most inputs have none, and need not be parsed to tell.
  if (!/\d[eE]\+?\d{3}|\d{309}/.test(input)) return undefined;
  return find(parseExact(input), '');
}

/** Whether clients of an SDK can read an input with this number in it. */
export function canRead(sdk: SdkName, large: LargeNumber | undefined): boolean {
  return large === undefined || sdks[sdk].largeNumbers !== 'unreadable';
}

function find(value: unknown, path: string): LargeNumber | undefined {
  if (value instanceof RawNumber) return Number.isFinite(Number(value.text)) ? undefined : { text: value.text, path };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${key}]` : path === '' ? key : `.${key}`;
    const found = find(inner, path + step);
    if (found) return found;
  }
  return undefined;
}

// What a caller is warned about.

type From = { sdk: SdkName; address: string };

/** A failure says little, so a longer answer than this is not searched for its reason. */
const MAX_SEARCHED = 64 * 1024;
const NAMED_AT_MOST = 4;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Warns the caller about the input that this client is given. */
export function inputWarnings({ sdk, address }: From, input: string): Warning[] {
  const { roundsAs, largeNumbers, label } = sdks[sdk];
  const large = largeNumbers === 'changed' ? largeNumberIn(input) : undefined;
  if (large) return [warning('out-of-range', { address, sdk: label, number: large.text, path: large.path })];
  if (roundsAs === null) return [];
  const rounded = largeIntegers(input).filter((integer) => asFloat(integer) !== integer);
  if (rounded.length === 0) return [];
  const named = rounded.slice(0, NAMED_AT_MOST);
  const [numbers, seen] = [named.join(', '), named.map(asFloat).join(', ')];
  const more = rounded.length > NAMED_AT_MOST ? rounded.length - NAMED_AT_MOST : undefined;
  return [warning('precision', { address, sdk: roundsAs, numbers, seen, more })];
}

/** Warns the caller about the answer of this client. `input`: a number that is written there as well is exact. */
export function answerWarnings(
  { sdk, address }: From,
  { body, success, input }: { body: string; success: boolean; input: string },
): Warning[] {
  const { roundsAs } = sdks[sdk];
  const warnings: Warning[] = [];
  if (roundsAs !== null) {
    const exact = new Set(largeIntegers(input).filter((integer) => asFloat(integer) === integer));
    const returned = largeIntegers(body).find((integer) => !exact.has(integer));
    if (returned !== undefined) warnings.push(warning('precision', { address, sdk: roundsAs, returned }));
  }
  if (!success && body.length <= MAX_SEARCHED && !givesReason(body)) warnings.push(warning('no-reason', { address }));
  return warnings;
}

/** A client need not list a class that it runs all the same: the trace of its answer has the node. */
export function withoutRefuted(warnings: Warning[], body: string): Warning[] {
  if (!warnings.some(({ code }) => code === 'missing-leaf-class')) return warnings;
  const scanned = scanJson(body);
  const process = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === 'process') : undefined;
  const ran = ({ code, nodeId }: Warning) => code === 'missing-leaf-class' && process?.raw.includes(`[${nodeId}:`);
  return warnings.filter((warning) => !ran(warning));
}

/** The integers that a 64-bit float cannot tell from their neighbours, each once, as they are written. */
function largeIntegers(json: string): string[] {
  if (!/\d{16}/.test(json)) return [];
  const tokens = [...json.matchAll(STRING_OR_NUMBER)].map(([token]) => token);
  return [...new Set(tokens.filter((token) => /^-?\d{16,308}$/.test(token) && !Number.isSafeInteger(Number(token))))];
}

const asFloat = (integer: string) => BigInt(Number(integer)).toString();

function givesReason(body: string): boolean {
  const scanned = scanJson(body);
  const error = scanned.kind === 'complete' ? scanned.members.find(({ key }) => key === 'error') : undefined;
  return error !== undefined && error.kind !== 'null' && error.raw !== '""';
}
