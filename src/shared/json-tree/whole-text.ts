import { compactJson, prettyJson } from './print-json.ts';
import { readJson } from './read-json.ts';

/** A JSON text without needless space; a text that is no JSON stays as it is. */
export function compactText(text: string): string {
  const read = readJson(text);
  return read.kind === 'ok' ? compactJson(read.root) : text;
}

/** A JSON text over several lines; a text that is no JSON stays as it is. */
export function prettyText(text: string): string {
  const read = readJson(text);
  return read.kind === 'ok' ? prettyJson(read.root) : text;
}
