import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { digestOf } from '../../../src/shared/runtime/access/caller.ts';
import { openKeyring } from '../../../src/shared/runtime/access/keyring.ts';
import { createOwnTimers } from '../../support/own-time.ts';
import { captureLog } from '../../support/start-service.ts';

const KEY = 'the-key-of-ada-in-this-test';

it('a keys file that goes away is one line in the log for each time, however long it is away; its keys stay in force', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
  const path = join(directory, 'keys.yaml');
  await writeFile(path, `keys: [{ name: ada, sha256: ${digestOf(KEY).toString('hex')} }]`);
  const { log, lines } = captureLog();
  const { run, pass } = createOwnTimers();
  const settings = { API_KEYS: new Map(), API_KEYS_FILE: path };
  const { keyring, close } = await run(() => openKeyring({ settings, log }));
  /** The file itself is read in real time. */
  const look = async () => {
    await pass(1100);
    await delay(20);
  };
  const threeLooks = async () => {
    for (const _ of [1, 2, 3]) await look();
  };
  const told = () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
  try {
    for (const incident of [1, 2]) {
      await rename(path, `${path}.away`);
      await expect.poll(() => look().then(told), { timeout: 60_000 }).toHaveLength(incident);
      await threeLooks();
      expect(told()).toHaveLength(incident);
      expect(keyring.find(KEY).kind).toBe('known');
      await rename(`${path}.away`, path);
      const back = () => lines.filter(({ msg }) => msg === 'the keys file can be used again');
      await expect.poll(() => look().then(back), { timeout: 60_000 }).toHaveLength(incident);
      await threeLooks();
      expect(back()).toHaveLength(incident);
    }
    expect(told()[0]).toContain('keys file');
  } finally {
    await close();
  }
});
