import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { digestOf } from '../../shared/runtime/access/caller.ts';
import { createKeyring } from '../../shared/runtime/access/keyring.ts';
import { type KeyEntry, parseKeysFile, readKeysFile } from '../../shared/runtime/access/keys-file.ts';
import { BadSettings } from '../../shared/runtime/settings/settings.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { table } from '../terminal/table.ts';

type NewKeyOptions = { name: string; may: string; apps?: string; expires?: string; json?: boolean };
type CheckKeysOptions = { json?: boolean };

/** Makes a key: 32 random bytes. The key goes to standard error, its entry for the keys file to standard output. */
export function newKey({ name, may, apps, expires, json }: NewKeyOptions, { stdout, stderr }: Surroundings): number {
  const key = randomBytes(32).toString('base64url');
  const entry = {
    name,
    sha256: digestOf(key).toString('hex'),
    ...(expires !== undefined && { expires }),
    may: listOf(may),
    ...(apps !== undefined && { apps: listOf(apps).map((app) => (/^\d+$/.test(app) ? Number(app) : app)) }),
  };
  read(() => parseKeysFile(stringify({ keys: [entry] })));
  if (json) {
    stdout.write(`${JSON.stringify({ key, entry })}\n`);
    return exitCodes.ok;
  }
  stdout.write(stringify([entry], { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' }));
  stderr.write(`The key, shown this once: ${key}\nPut the entry below "keys:" in the keys file (API_KEYS_FILE).\n`);
  return exitCodes.ok;
}

/** Checks a keys file and lists what its entries may do; ends with 1 when it cannot be used. */
export async function checkKeys(
  file: string | undefined,
  { json }: CheckKeysOptions,
  { environment, stdout }: Surroundings,
): Promise<number> {
  const path = file ?? environment.API_KEYS_FILE;
  if (path === undefined) throw new CommandFailed('Name a keys file, or set API_KEYS_FILE.', exitCodes.usage);
  const text = await readKeysFile(path).catch(failed);
  const entries = read(() => parseKeysFile(text));
  if (json) {
    stdout.write(`${JSON.stringify({ keys: entries.map(entryBody) })}\n`);
    return exitCodes.ok;
  }
  stdout.write(entries.length > 0 ? table(HEADINGS, entries.map(row)) : 'The file lets nobody in.\n');
  const key = environment.RULE_SERVER_KEY;
  if (key !== undefined) stdout.write(`\n${whose(entries, key)}\n`);
  return exitCodes.ok;
}

const HEADINGS = ['NAME', 'MAY', 'APPS', 'EXPIRES'];

function row({ name, may, apps, expiresAt }: KeyEntry): string[] {
  const expires = expiresAt === null ? 'never' : new Date(expiresAt).toISOString().slice(0, 10);
  const isOver = expiresAt !== null && expiresAt <= Date.now();
  return [
    name,
    [...may].join(',') || 'nothing',
    apps ? [...apps].join(',') : 'all',
    isOver ? `${expires} (over)` : expires,
  ];
}

function entryBody({ name, may, apps, expiresAt }: KeyEntry) {
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return { name, may: [...may], apps: apps === null ? null : [...apps], expires };
}

function whose(entries: KeyEntry[], key: string): string {
  const keyring = createKeyring(new Map());
  keyring.replace(entries);
  const found = keyring.find(key);
  if (found.kind === 'known') return `RULE_SERVER_KEY is the key of ${found.caller.name}.`;
  return found.kind === 'expired'
    ? `RULE_SERVER_KEY is the key of ${found.name}, expired.`
    : 'RULE_SERVER_KEY is none of these.';
}

function listOf(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}

function read<T>(task: () => T): T {
  try {
    return task();
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): never {
  throw error instanceof BadSettings ? new CommandFailed(error.message, exitCodes.failed) : error;
}
