import { readFile } from 'node:fs/promises';
import { decodeWhole, withoutMark } from '../contract/json/utf8.ts';
import { textFaultOf } from '../reasons/text-faults.ts';

/** The text of a file that a person wrote. Throws, as `textOf` does, for what is no UTF-8. */
export const readText = async (path: string): Promise<string> => textOf(await readFile(path));

/** The text of bytes, without the byte order mark of Excel and Notepad. Throws an error that names the line and the byte that are no UTF-8. */
export function textOf(bytes: Uint8Array): string {
  const decoded = decodeWhole(withoutMark(bytes));
  if (decoded.kind === 'text') return decoded.text;
  throw new TypeError(`it ${textFaultOf(decoded.fault)} (save it as UTF-8)`);
}
