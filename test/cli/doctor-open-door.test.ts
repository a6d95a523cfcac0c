import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runDoctor } from '../support/run-doctor.ts';

const KEY = 'the-key-of-ada-in-this-test';

describe('doctor, of an API that the network would reach', () => {
  it.each(['0.0.0.0', '::', '192.0.2.7'])('warns of HOST=%s without keys, and names each way out', async (HOST) => {
    const { warned, failed } = await diagnose({ HOST });
    expect(warned).toContain(`"message":"an API does not start with them"`);
    for (const name of [HOST, 'API_KEYS', 'API_KEYS_FILE', 'HOST=127.0.0.1', 'ALLOW_ANONYMOUS=1'])
      expect(warned).toContain(name);
    expect(failed).not.toContain('"settings"'); // a worker starts with them
  });

  it('says nothing of it where a way out was taken, nor where only this machine reaches it', async () => {
    const ways = [
      { HOST: '0.0.0.0', API_KEYS: `ada:${KEY}` },
      { HOST: '0.0.0.0', API_KEYS_FILE: await keysFile() },
      { HOST: '0.0.0.0', ALLOW_ANONYMOUS: '1' },
      { HOST: '127.0.0.1' },
      {},
    ];
    for (const way of ways) {
      const { warned, failed } = await diagnose(way);
      expect([way, warned + failed]).toEqual([way, expect.not.stringContaining('"settings"')]);
    }
  });
});

const diagnose = (environment: Record<string, string>) =>
  runDoctor({ REDIS_URL: 'redis://127.0.0.1:1', ...environment });

/** A keys file without keys: nobody may call. */
async function keysFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-doctor-'));
  const path = join(folder, 'keys.yaml');
  await writeFile(path, 'keys: []\n');
  return path;
}
