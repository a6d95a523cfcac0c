import type { SdkName } from '../../../shared/contract/client-kinds.ts';
import { parseExact } from '../../../shared/contract/json/exact-json.ts';
import { RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { sdks } from './sdks.ts';

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
