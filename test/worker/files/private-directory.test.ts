import { chmod, chown, cp, mkdir, mkdtemp, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import { createSharedDirectory } from '../../../src/worker/files/shared-directory.ts';
import { canActAsOthers } from '../../support/stranger.ts';

const STRANGER = 54_321;
const FOLDERS = ['.rule-server', '.rule-server/claims', '.rule-server/answers', '.rule-server/clocks'];

/** A shared directory that a worker has used, and looks at. */
async function usedDirectory() {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  const directory = createSharedDirectory({ sharedDir, registered: createMemoryDirectory() });
  await directory.check();
  for (const folder of FOLDERS) await mkdir(join(sharedDir, folder), { recursive: true });
  await directory.check();
  expect(await directory.isThere()).toBe(true);
  return { sharedDir, directory };
}

describe.skipIf(!canActAsOthers)('the workers’ own folder (needs root)', () => {
  it.each(FOLDERS)('no job is taken while %s belongs to somebody else', async (folder) => {
    const { sharedDir, directory } = await usedDirectory();
    await chown(join(sharedDir, folder), STRANGER, STRANGER);
    await expect(directory.check()).rejects.toThrow(/\.rule-server.*(own|belong)/s);
    expect(await directory.isThere()).toBe(false); // before each sweep, and before a missing file means anything
    await chown(join(sharedDir, folder), 0, 0);
    await directory.check();
    expect(await directory.isThere()).toBe(true);
  });

  it('no job is taken when another folder with the same id stands in its place', async () => {
    const { sharedDir, directory } = await usedDirectory();
    const own = join(sharedDir, '.rule-server');
    await rename(own, join(sharedDir, '.gone'));
    await cp(join(sharedDir, '.gone'), own, { recursive: true });
    for (const folder of FOLDERS) await chown(join(sharedDir, folder), STRANGER, STRANGER);
    await expect(directory.check()).rejects.toThrow(/\.rule-server.*(own|belong)/s);
  });

  it.each(['777', '775', '707'])(
    'no job is taken while others may write it (%s), unless it is closed',
    async (mode) => {
      const { sharedDir, directory } = await usedDirectory();
      const own = join(sharedDir, '.rule-server');
      await chmod(own, Number.parseInt(mode, 8));
      const taken = await directory.check().then(
        () => true,
        () => false,
      );
      expect({ taken, mayWrite: ((await stat(own)).mode & 0o022) !== 0 }).not.toEqual({ taken: true, mayWrite: true });
    },
  );
});
