import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { every } from '../../../src/shared/runtime/upkeep.ts';
import { createClientDirectories, ForeignPath } from '../../../src/worker/files/client-directory.ts';

let sharedDir: string;
beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'client-directories-'));
  await mkdir(join(sharedDir, 'mock'));
});

test('a directory that another server removes while it is made is made again', async () => {
  const { clientDirectory, forget } = createClientDirectories(sharedDir);
  const path = join(sharedDir, 'mock/7/client');
  const removing = every(
    0,
    () => rm(path, { recursive: true, force: true }),
    () => {},
  );
  const outcomes = new Set<string>();
  for (let round = 0; round < 150; round++) {
    forget(path);
    for (const mark of [false, true])
      await clientDirectory(7, 'client', { mark }).then(
        (made) => outcomes.add(made),
        // Removed again and again, until it was tried often enough.
        (error) => outcomes.add(error instanceof ForeignPath ? path : String(error)),
      );
  }
  await removing.stop();
  expect([...outcomes]).toEqual([path]);
});
