import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { digestOf, permissions } from '../../../src/shared/runtime/access/caller.ts';
import { createKeyring, type KeyChanges, openKeyring } from '../../../src/shared/runtime/access/keyring.ts';
import { parseKeysFile } from '../../../src/shared/runtime/access/keys-file.ts';
import { BadSettings } from '../../../src/shared/runtime/settings/settings.ts';
import { captureLog } from '../../support/start-service.ts';

const KEY = 'a-key-of-16-chars';
const SHA = digestOf(KEY).toString('hex');

describe('a keys file', () => {
  it('says for each key what it may do, for which apps, how much and how long', () => {
    const [entry] = parseKeysFile(`
keys:
  - name: reports
    sha256: ${SHA}
    expires: 2027-01-31
    may: [read, cases]
    apps: [1, 9001]
    limits: { callsPerSecond: 5 }
`);
    expect(entry).toEqual({
      name: 'reports',
      digest: digestOf(KEY),
      expiresAt: Date.parse('2027-01-31'),
      may: new Set(['read', 'cases']),
      apps: new Set([1, 9001]),
      limits: { callsPerSecond: 5 },
    });
  });

  it.each([
    ['keys: [{ name: a, sha256: short }]', /keys\.0\.sha256 must be the key's SHA-256/],
    [`keys: [{ name: a, key: ${KEY} }]`, /keys\.0\.key is not known/],
    ['keys: [{ name: "a b" }]', /keys\.0\.name must be 1 to 64/],
    ['keys: [{ name: a, may: [write] }]', /keys\.0\.may\.0 must be one of read/],
    ['keys: [{ name: a, apps: [0] }]', /keys\.0\.apps\.0/],
    ['keys: [{ name: a, expires: soon }]', /keys\.0\.expires must be a day such as/],
    ['keys: [{ name: a }, { name: a }]', /keys\.1\.name is given twice/],
    ['keys: [{ name: a, limits: { streams: 0 } }]', /keys\.0\.limits\.streams/],
    ['names: []', /API_KEYS_FILE cannot be used/],
    ['keys: [', /API_KEYS_FILE is not YAML/],
    ['', /API_KEYS_FILE cannot be used/],
    ['a: &a [x, x]\nkeys: [*a, *a]', /alias/i],
  ])('%j is refused and says where', (text, says) => {
    expect(() => parseKeysFile(text)).toThrow(says);
    expect(() => parseKeysFile(text)).not.toThrow(KEY);
  });
});

describe('a keyring', () => {
  it('lets a key of API_KEYS do everything, for every app', () => {
    const found = createKeyring(new Map([['team', KEY]])).find(KEY);
    expect(found).toEqual({
      kind: 'known',
      caller: { name: 'team', may: new Set(permissions), apps: null, limits: {} },
    });
  });

  it('knows a key by its digest, and one that has expired as that', () => {
    let time = Date.parse('2027-01-30');
    const keyring = createKeyring(new Map(), { now: () => time });
    keyring.replace(parseKeysFile(`keys: [{ name: a, sha256: ${SHA}, expires: 2027-01-31 }]`));
    expect(keyring.find(KEY)).toMatchObject({ kind: 'known', caller: { name: 'a' } });
    expect(keyring.find('another')).toEqual({ kind: 'unknown' });
    expect(keyring.find(SHA)).toEqual({ kind: 'unknown' }); // the file opens nothing
    time = Date.parse('2027-01-31');
    expect(keyring.find(KEY)).toEqual({ kind: 'expired', name: 'a' });
  });

  it('is not open because its file has no entry', () => {
    const keyring = createKeyring(new Map());
    expect(keyring.isOpen).toBe(true);
    keyring.replace([]);
    expect(keyring.isOpen).toBe(false);
  });

  it('lets a person a proxy names be what the file says, by name or as anybody, and never a key', () => {
    const keyring = createKeyring(new Map([['console', KEY]]));
    expect(keyring.person('ada@example.com')).toMatchObject({ kind: 'known', caller: { name: 'ada@example.com' } });
    expect(keyring.person('console').kind).toBe('unknown');
    keyring.replace(parseKeysFile('keys: [{ name: ada@example.com, may: [run] }]'));
    expect(keyring.person('ada@example.com')).toMatchObject({ caller: { may: new Set(['run']) } });
    expect(keyring.person('eve@example.com').kind).toBe('unknown');
    keyring.replace(parseKeysFile('keys: [{ name: "*", may: [read] }]'));
    expect(keyring.person('eve@example.com')).toMatchObject({
      caller: { name: 'eve@example.com', may: new Set(['read']) },
    });
  });
});

describe('the keys file of a running process', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
  });

  it('is read anew when it changes, and keeps its last good state while it is none', async () => {
    const path = join(directory, 'keys.yaml');
    const write = async (text: string) => {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    };
    await write(`keys: [{ name: a, sha256: ${SHA} }]`);
    const { log, lines } = captureLog();
    const seen: KeyChanges[] = [];
    const settings = { API_KEYS: new Map(), API_KEYS_FILE: path };
    const { keyring, close } = await openKeyring({ settings, log, onChange: (changes) => void seen.push(changes) });
    try {
      expect(keyring.find(KEY).kind).toBe('known');
      await write(`keys: [{ name: a, sha256: ${'0'.repeat(64)} }, { name: b }]`);
      await expect.poll(() => seen, { timeout: 60_000 }).toEqual([{ added: ['b'], removed: [], changed: ['a'] }]);
      expect(keyring.find(KEY).kind).toBe('unknown');
      await write('keys: [');
      await expect.poll(() => lines.some(({ level }) => level === 50), { timeout: 60_000 }).toBe(true);
      expect(keyring.person('b').kind).toBe('known');
    } finally {
      await close();
    }
  });

  it('that is not there, or is none, stops the start', async () => {
    const { log } = captureLog();
    const open = (path: string) => openKeyring({ settings: { API_KEYS: new Map(), API_KEYS_FILE: path }, log });
    await expect(open(join(directory, 'nothing'))).rejects.toThrow(BadSettings);
    const bad = join(directory, 'bad.yaml');
    await writeFile(bad, 'keys: 5');
    await expect(open(bad)).rejects.toThrow(/API_KEYS_FILE cannot be used/);
  });
});
