import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { directoryAt } from '../../../src/worker/files/client-directory.ts';
import { resultFileName } from '../../../src/worker/files/file-names.ts';
import { removeResultSeen } from '../../../src/worker/files/mailbox.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';
import { toSight } from '../../../src/worker/files/results/result-file.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';
const ANSWER = '{"success":true}';

/** A client wrote `null`, which was seen. `before`: what happens just before that is moved aside. */
async function removeNull(before: (path: string) => Promise<void>): Promise<string> {
  const directory = join(await mkdtemp(join(tmpdir(), 'rule-server-')), 'mock/1/here');
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(directory, { recursive: true });
  const path = join(directory, resultFileName(mockId));
  await writeFile(path, 'null');
  const { stamp } = toSight(await lstat(path));
  const rename = async (from: string, to: string) => {
    if (from.endsWith(resultFileName(mockId))) await before(path);
    return nodeFiles.rename(from, to);
  };
  const worker = createProcess(filesOf.as({ ...nodeFiles, rename, atOnce: { ...nodeFiles.atOnce, rename } }));
  await worker.run(() => removeResultSeen(directoryAt(directory), mockId, stamp));
  return directory;
}

test('what is no result is removed', async () => {
  expect(await readdir(await removeNull(async () => {}))).toEqual([]);
});

test.each([
  ['renamed', (path: string) => writeFile(`${path}.tmp`, ANSWER).then(() => nodeFiles.rename(`${path}.tmp`, path))],
  ['written over it', (path: string) => writeFile(path, ANSWER)],
])('an answer that comes at that moment stays: %s', async (_, comes) => {
  const directory = await removeNull(comes);
  expect(await readdir(directory)).toEqual([resultFileName(mockId)]);
  expect(await readFile(join(directory, resultFileName(mockId)), 'utf8')).toBe(ANSWER);
});
