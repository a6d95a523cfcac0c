import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailed } from './surroundings.ts';

/** The input of a rule as JSON text: given in place, in a file (`@path`), or on standard input (`-`). */
export async function readData(given: string, stdin: Readable): Promise<string> {
  const json = given === '-' ? await text(stdin) : given.startsWith('@') ? await readText(given.slice(1)) : given;
  return objectText(json, '--data');
}

/** The text of a JSON object. `where`: the option that it stands in. */
export function objectText(json: string, where: string): string {
  const scanned = scanJson(json);
  if (scanned.kind === 'complete' && scanned.type === 'object') return scanned.raw;
  const why =
    scanned.kind === 'complete'
      ? `it is ${scanned.type}`
      : scanned.kind === 'wrong'
        ? `${scanned.message} at character ${scanned.at + 1}`
        : 'it ends too early';
  throw new CommandFailed(`${where} must be a JSON object: ${why}.`, exitCodes.usage);
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    throw new CommandFailed(`--data @${path} cannot be read: ${error.message}`, exitCodes.usage);
  });
}
