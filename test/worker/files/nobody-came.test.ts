import { mkdir, mkdtemp, readdir, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { MADE_BY_US } from '../../../src/worker/files/file-names.ts';
import { removeIfNobodyCame } from '../../../src/worker/files/mailbox.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';

/** Another execution comes to the directory just before it is removed, and ends before its marker is put back. */
test('two executions end at once at an address where nobody came: its directory goes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const directory = join(root, 'mock/1/typo');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, MADE_BY_US), '');
  let others = 1;
  const rmdir = async (path: string) => {
    if (others-- === 0) return nodeFiles.rmdir(path);
    await writeFile(join(path, 'other'), '');
    const removed = nodeFiles.rmdir(path);
    await removed.catch(() => unlink(join(path, 'other')));
    await removeIfNobodyCame(path);
    return removed;
  };
  await createProcess(filesOf.as({ ...nodeFiles, rmdir })).run(() => removeIfNobodyCame(directory));
  expect(await readdir(join(root, 'mock/1'))).toEqual([]);
});
