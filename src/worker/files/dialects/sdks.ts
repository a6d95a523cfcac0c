import { type DialectName, type SdkName, sdkNames } from '../../../shared/contract/client-kinds.ts';
import { parseExact } from '../../../shared/contract/json/exact-json.ts';
import { RawNumber } from '../../../shared/contract/json/raw-number.ts';

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
