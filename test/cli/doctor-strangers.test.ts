import { chmod, chown, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runDoctor } from '../support/run-doctor.ts';
import { canActAsOthers } from '../support/stranger.ts';

const diagnose = (sharedDir: string) => runDoctor({ REDIS_URL: 'redis://127.0.0.1:1', SHARED_DIR: sharedDir });

describe.skipIf(!canActAsOthers)('doctor, of a shared directory among strangers (needs root)', () => {
  it('fails for a folder of the workers that belongs to somebody else', async () => {
    const sharedDir = await madeDirectory('755');
    await chown(join(sharedDir, '.rule-server'), 54_321, 54_321);
    expect((await diagnose(sharedDir)).failed).toMatch(/\.rule-server.*(own|belong)/);
  });

  it('names a folder of the workers that others may write', async () => {
    const sharedDir = await madeDirectory('755');
    await chmod(join(sharedDir, '.rule-server'), 0o775);
    const { warned, failed } = await diagnose(sharedDir);
    expect(warned + failed).toMatch(/\.rule-server.*(0?700|others|group)/);
  });

  it.each(['2775', '777'])('names one in which clients may move what is not theirs (%s)', async (mode) => {
    const { warned, failed } = await diagnose(await madeDirectory(mode));
    expect(warned + failed).toMatch(/sticky|3775/);
  });

  it.each(['755', '3775'])('names nothing of that where they may not (%s)', async (mode) => {
    const { warned, failed } = await diagnose(await madeDirectory(mode));
    expect(warned + failed).not.toMatch(/sticky|3775|\.rule-server/);
  });
});

async function madeDirectory(mode: string): Promise<string> {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  for (const name of ['mock', 'clients']) await mkdir(join(sharedDir, name));
  await mkdir(join(sharedDir, '.rule-server'), { mode: 0o700 });
  await chmod(sharedDir, Number.parseInt(mode, 8));
  return sharedDir;
}
