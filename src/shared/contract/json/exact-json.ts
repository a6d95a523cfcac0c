import type { JsonFault } from '../../reasons/json-faults.ts';
import { pathOfScan, scanDocument } from './json-scan.ts';
import type { JsonKind, Member } from './json-tokens.ts';
import { createJsonScan, EndsTooEarly, Wrong } from './json-tokens.ts';
import type { ExactValue } from './raw-number.ts';

/**
 * JSON (RFC 8259) as raw text: checked to the letter and split into members without ever turning a number into a
 * JavaScript number, so that 9007199254740993, 1e400, 0.10 and -0 leave exactly as they came.
 */

/** The result of scanning a text. `incomplete`: a good beginning that ends too early. `wrong`: no ending can save it. */
export type Scanned =
  | { kind: 'complete'; type: JsonKind; raw: string; members: Member[]; duplicates: string[] }
  | { kind: 'incomplete'; length: number }
  | { kind: 'wrong'; at: number; path: string; message: string; fault: JsonFault };

/** Checks one JSON text and splits its outermost object or array, whose keys are its places. Depth is bounded by `MAX_DEPTH`; duplicate keys are listed by path. */
export function scanJson(text: string): Scanned {
  const scan = createJsonScan(text, false);
  try {
    const { type, start, end } = scanDocument(scan);
    const { members, duplicates } = scan;
    return { kind: 'complete', type, raw: text.slice(start, end), members, duplicates };
  } catch (error) {
    if (error instanceof EndsTooEarly) return { kind: 'incomplete', length: text.length };
    if (error instanceof Wrong) {
      const { at, message, fault } = error;
      return { kind: 'wrong', at, path: pathOfScan(scan), message, fault };
    }
    throw error;
  }
}

/**
 * Parses one JSON text with its numbers kept as written. Throws a `SyntaxError` naming place and path. `sources` gets the text of each object
 * and array.
 */
export function parseExact(text: string, sources?: WeakMap<object, string>): ExactValue {
  const scan = createJsonScan(text, true, sources);
  try {
    return scanDocument(scan).value;
  } catch (error) {
    if (error instanceof EndsTooEarly) throw new SyntaxError(`JSON ends too early, after ${text.length} characters`);
    if (error instanceof Wrong)
      throw new SyntaxError(`${error.message} at character ${error.at + 1}${inPath(pathOfScan(scan))}`);
    throw error;
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

function inPath(path: string): string {
  return path === '' ? '' : ` in ${path}`;
}
