import { asFault } from '../../reasons/template.ts';
import { jsonFaultOf, type TextFault, textFault } from '../../reasons/text-faults.ts';
import { pathOfScan, scanDocument } from './json-scan.ts';
import type { JsonKind, Member } from './json-tokens.ts';
import { createJsonScan, EndsTooEarly, Wrong } from './json-tokens.ts';
import type { ExactValue } from './raw-number.ts';

/**
 * JSON (RFC 8259) as raw text: checked to the letter and split into members without ever turning a number into a
 * JavaScript number, so that 9007199254740993, 1e400, 0.10 and -0 leave exactly as they came.
 */

/**
 * The result of scanning a text. `incomplete`: a good beginning that ends too early. `wrong`: no ending can save it. `whole` is the fault of the
 * text, with its place.
 */
export type Scanned =
  | { kind: 'complete'; type: JsonKind; raw: string; members: Member[]; duplicates: string[] }
  | { kind: 'incomplete' | 'wrong'; at: number; path: string; whole: TextFault; fault: TextFault };

/** Checks one JSON text and splits its outermost object or array, whose keys are its places. Depth is bounded by `MAX_DEPTH`; duplicate keys are listed by path. */
export function scanJson(text: string): Scanned {
  const scan = createJsonScan(text, false);
  try {
    const { type, start, end } = scanDocument(scan);
    const { members, duplicates } = scan;
    return { kind: 'complete', type, raw: text.slice(start, end), members, duplicates };
  } catch (error) {
    const { at, fault: found } = faultOf(error, text);
    const kind = error instanceof EndsTooEarly ? 'incomplete' : 'wrong';
    const whole = textFault('not-json', withPlace(found, at));
    return { kind, at, path: pathOfScan(scan), whole, fault: found };
  }
}

/** The fault of the text that ended a scan. Rethrows any other error. */
function faultOf(error: unknown, { length }: string): { at: number; fault: TextFault } {
  if (error instanceof EndsTooEarly) return { at: length, fault: textFault('json-early', { length }) };
  if (error instanceof Wrong) return error;
  throw error;
}

/** `json-early` already says where the text ends. */
const withPlace = (found: TextFault, at: number, where = '') => ({
  ...asFault(found),
  ...(found.problem !== 'json-early' && { at: at + 1, ...(where !== '' && { where }) }),
});

/** Thrown for a text that is not JSON. `fault` follows the name of the text; `message` is the reason alone. */
export class NotJson extends SyntaxError {
  readonly fault: TextFault;
  constructor({ fault: found, at, path }: { fault: TextFault; at: number; path: string }) {
    const params = withPlace(found, at, path);
    super(jsonFaultOf(params));
    this.fault = textFault('not-json', params);
  }
}

/** Parses one JSON text with its numbers kept as written. Throws `NotJson`. `sources` gets the text of each object and array. */
export function parseExact(text: string, sources?: WeakMap<object, string>): ExactValue {
  const scan = createJsonScan(text, true, sources);
  try {
    return scanDocument(scan).value;
  } catch (error) {
    throw new NotJson({ ...faultOf(error, text), path: pathOfScan(scan) });
  }
}

/** Puts members back together, in order, values as they were written. */
export function joinMembers(members: Iterable<readonly [key: string, raw: string]>): string {
  const parts: string[] = [];
  for (const [key, raw] of members) parts.push(`${JSON.stringify(key)}:${raw}`);
  return `{${parts.join(',')}}`;
}

/** The same JSON in ASCII. Outside strings JSON is ASCII already, so every other character may become a \u escape. */
export function toAscii(raw: string): string {
  return raw.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
