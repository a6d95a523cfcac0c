import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import { readText, textOf } from '../../shared/runtime/read-text.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailed } from './surroundings.ts';

/** The input of a rule as JSON text: given in place, in a file (`@path`), or on standard input (`-`). */
export async function readData(given: string, stdin: Readable): Promise<string> {
  return objectText(await textAt(given, stdin).catch((error) => cannotRead(given, error)), '--data');
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

async function textAt(given: string, stdin: Readable): Promise<string> {
  if (given === '-') return textOf(await buffer(stdin));
  return given.startsWith('@') ? readText(given.slice(1)) : given;
}

function cannotRead(given: string, error: Error): never {
  throw new CommandFailed(`--data ${given} cannot be read: ${error.message}`, exitCodes.usage);
}
