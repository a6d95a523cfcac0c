import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createKeptAnswers } from '../../../src/worker/files/kept-answers.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';

it('an answer is gone after half a minute', async () => {
  const { kept, root } = await keptOne();
  await kept.sweep(Date.now() + 10_000);
  expect(await readdir(root)).toHaveLength(1);
  await kept.sweep(Date.now() + 45_000);
  expect(await readdir(root)).toEqual([]);
});

it('an answer lies in one of the folders that are looked into', async () => {
  const { kept, path } = await keptOne();
  expect(kept.folders().map((folder) => join(folder, mockId))).toContain(path);
});

it('an answer is kept although its folder was swept', async () => {
  const { kept, root } = await keptOne();
  await rm(root, { recursive: true });
  await writeFile(await kept.pathFor(mockId, { again: true }), '{"success":true}');
});

it('an answer is kept while its folder is old by its name alone: the clock it was named by may have been wrong', async () => {
  const { kept, root } = await keptOne();
  const [folder = ''] = await readdir(root);
  const later = new Date(Date.now() + 60_000);
  await utimes(join(root, folder), later, later);
  await kept.sweep(Date.now() + 45_000);
  expect(await readdir(root)).toEqual([folder]);
});

it('an answer goes with the others of its folder when a worker died while it removed them', async () => {
  const { kept, root } = await keptOne();
  await mkdir(join(root, '1000.x.removed'), { recursive: true });
  await kept.sweep(Date.now());
  expect(await readdir(root)).not.toContain('1000.x.removed');
});

async function keptOne() {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-kept-'));
  const root = join(sharedDir, '.rule-server/answers');
  await mkdir(root, { recursive: true });
  const kept = createKeptAnswers(sharedDir, { now: Date.now });
  const path = await kept.pathFor(mockId);
  await writeFile(path, '{"success":true}');
  return { kept, root, path };
}
