import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Settings } from '../settings/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Caller, digestOf, permissions } from './caller.ts';
import type { KeyEntry } from './keys-file.ts';

/** The result of looking a key, a session or a name up. */
export type Found = { kind: 'known'; caller: Caller } | { kind: 'expired'; name: string } | { kind: 'unknown' };

export type Keyring = ReturnType<typeof createKeyring>;

/** The names that are new, gone, or have other keys or rights. */
export type KeyChanges = { added: string[]; removed: string[]; changed: string[] };

/** A person that a trusted proxy names and the keys file does not. */
const EVERYONE = '*';

/** The API keys, by name, and what each may do. */
export function createKeyring(fixed: ReadonlyMap<string, string>, { now = Date.now } = {}) {
  const own = [...fixed].map(([name, key]): KeyEntry => ({ ...unbounded(name), digest: digestOf(key) }));
  let entries = own;
  let hasFile = false;
  let readAt = now();

  const judged = (entry: KeyEntry | undefined): Found => {
    if (entry === undefined) return { kind: 'unknown' };
    const { name, may, apps, limits, expiresAt } = entry;
    if (expiresAt !== null && expiresAt <= now()) return { kind: 'expired', name };
    return { kind: 'known', caller: { name, may, apps, limits } };
  };
  const named = (name: string) => entries.find((entry) => entry.name === name);
  /** The owner of a name: of a key, or (`persons`) somebody whom a proxy names. */
  const byName = (name: string, persons: boolean): Found => {
    const entry = named(name) ?? (persons ? named(EVERYONE) : undefined);
    if (entry) return judged({ ...entry, name });
    return persons && !hasFile ? judged(unbounded(name)) : { kind: 'unknown' };
  };

  return {
    /** True when no key is configured, so that every caller may call. A keys file without entries refuses all. */
    get isOpen() {
      return own.length === 0 && !hasFile;
    },
    /** When the keys were read: a key that is unknown now and older than this was removed. */
    readAt: () => readAt,
    byName,
    /** Finds the owner of a key in constant time. */
    find(key: string): Found {
      const digest = digestOf(key);
      return judged(entries.filter((entry) => entry.digest && timingSafeEqual(entry.digest, digest)).at(0));
    },
    /** The person a trusted proxy names. Without a keys file a person may do everything. */
    person: (name: string): Found =>
      (named(name) ?? named(EVERYONE))?.digest ? { kind: 'unknown' } : byName(name, true), // a key's name is no person's
    /** Ties a session to the key it was made with. It tells nothing about the key. */
    proof: (name: string, secret: string) => {
      const entry = named(name);
      return entry?.digest ? proofFor(entry, secret) : undefined;
    },
    /** Finds who owns a session, as long as the key is the one it was made with. */
    bySession({ name, proof }: { name: string; proof: string }, secret: string): Found {
      const entry = named(name);
      return entry?.digest && proofFor(entry, secret) === proof ? judged(entry) : { kind: 'unknown' };
    },
    /** The key of an `Authorization: Bearer` header (RFC 6750). */
    bearerOf: (authorization: string | undefined) => /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1],
    /** Takes the keys of a file in the place of those it had before. */
    replace(keys: KeyEntry[]): KeyChanges {
      const before = entries;
      hasFile = true;
      readAt = now();
      entries = [...own, ...keys.filter(({ name }) => !fixed.has(name))];
      return changesBetween(before, entries);
    },
  };
}

function changesBetween(earlier: readonly KeyEntry[], later: readonly KeyEntry[]): KeyChanges {
  const before = new Map(earlier.map((entry) => [entry.name, print(entry)]));
  const after = new Map(later.map((entry) => [entry.name, print(entry)]));
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].flatMap(([name, text]) => (before.has(name) && before.get(name) !== text ? name : [])),
  };
}

function proofFor({ digest }: KeyEntry, secret: string): string {
  return createHmac('sha256', secret)
    .update(digest ?? '')
    .digest('base64url');
}

function unbounded(name: string): KeyEntry {
  return { name, digest: null, expiresAt: null, may: new Set(permissions), apps: null, limits: {} };
}

function print({ digest, expiresAt, may, apps, limits }: KeyEntry): string {
  return JSON.stringify([digest?.toString('hex'), expiresAt, [...may], apps && [...apps], limits]);
}

type Options = {
  settings: Pick<Settings, 'API_KEYS' | 'API_KEYS_FILE'>;
  log: Logger;
  onChange?: (changes: KeyChanges) => void;
};

/** The keys of a process, kept in step with its keys file. Throws `BadSettings` when the file cannot be used at the start. */
export async function openKeyring({ settings: { API_KEYS, API_KEYS_FILE: path }, log, onChange }: Options) {
  const keyring = createKeyring(API_KEYS);
  if (path === undefined) return { keyring, close: async () => {} };
  // Loads the YAML parser only if there is a keys file.
  const { parseKeysFile, readKeysFile, watchKeysFile } = await import('./keys-file.ts');
  const known = await readKeysFile(path);
  keyring.replace(parseKeysFile(known));
  const watch = watchKeysFile({
    path,
    known,
    onChange(keys) {
      const changes = keyring.replace(keys);
      log.info(changes, 'the keys file was read anew');
      onChange?.(changes);
    },
    onBad: (error) => log.error({ err: error }, 'the keys file cannot be used: the earlier keys stay in force'),
    onGood: () => log.info('the keys file can be used again'),
  });
  return { keyring, close: () => watch.stop() };
}
