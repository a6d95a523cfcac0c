import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { digestOf } from '../../../src/shared/runtime/access/caller.ts';
import { openKeyring } from '../../../src/shared/runtime/access/keyring.ts';
import { captureLog } from '../../support/start-service.ts';

const KEY = 'the-key-of-ada-in-this-test';
const THREE_LOOKS_MS = 3500;

it('a keys file that goes away is one line in the log for each time, however long it is away; its keys stay in force', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'keys.yaml');
  await writeFile(path, `keys: [{ name: ada, sha256: ${digestOf(KEY).toString('hex')} }]`);
  const { log, lines } = captureLog();
  const { keyring, close } = await openKeyring({ settings: { API_KEYS: new Map(), API_KEYS_FILE: path }, log });
  const told = () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
  try {
    for (const incident of [1, 2]) {
      await rename(path, `${path}.away`);
      await expect.poll(() => told().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(incident);
      await delay(THREE_LOOKS_MS);
      expect(told()).toHaveLength(incident);
      expect(keyring.find(KEY).kind).toBe('known');
      await rename(`${path}.away`, path);
      await delay(THREE_LOOKS_MS);
      expect(lines.filter(({ msg }) => msg === 'the keys file can be used again')).toHaveLength(incident);
    }
    expect(told()[0]).toContain('keys file');
  } finally {
    await close();
  }
});
