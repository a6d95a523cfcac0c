import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createKeptAnswers } from '../../../src/worker/files/mailbox.ts';
import { createFileClock } from '../../../src/worker/files/shared-directory.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';

describe('an answer whose job was completed', () => {
  it('is taken out of the client’s directory, and found again', async () => {
    const { kept, place } = await answered();
    await kept.keep(place);
    expect(await readdir(place.directory)).toEqual([]);
    expect(await firstOf(kept.pathsOf(mockId))).toBe('{"success":true}');
  });

  it('is gone after half a minute', async () => {
    const { kept, place, answers } = await answered();
    await kept.keep(place);
    await kept.sweep(Date.now() + 10_000);
    expect(await readdir(answers)).toHaveLength(1);
    await kept.sweep(Date.now() + 45_000);
    expect(await readdir(answers)).toEqual([]);
  });

  it('is kept while its folder is old by its name alone: the clock it was named by may have been wrong', async () => {
    const { kept, place, answers } = await answered();
    await kept.keep(place);
    const [folder = ''] = await readdir(answers);
    const later = new Date(Date.now() + 60_000);
    await utimes(join(answers, folder), later, later);
    await kept.sweep(Date.now() + 45_000);
    expect(await readdir(answers)).toEqual([folder]);
  });

  it('goes with the others of its folder when a worker died while it removed them', async () => {
    const { kept, answers } = await answered();
    await mkdir(join(answers, '1000.x.removed'), { recursive: true });
    await kept.sweep(Date.now());
    expect(await readdir(answers)).toEqual([]);
  });

  it('is kept although its folder was swept', async () => {
    const { kept, place, answers } = await answered();
    await kept.keep({ ...place, mockId: 'another' });
    await rm(answers, { recursive: true });
    await kept.keep({ ...place, mockId: 'another' });
    await kept.keep(place);
    expect(await firstOf(kept.pathsOf(mockId))).toBe('{"success":true}');
  });

  it('is removed where it cannot be kept', async () => {
    const { kept, place, answers } = await answered();
    await writeFile(answers, 'a file in the way');
    await kept.keep(place);
    expect(await readdir(place.directory)).toEqual([]);
  });

  it('need not be there', async () => {
    const { kept, place } = await answered();
    await kept.keep({ ...place, mockId: 'another' });
    expect(await readdir(place.directory)).toEqual([`${mockId}_result.json`]);
  });
});

async function answered() {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-kept-'));
  onTestFinished(() => rm(sharedDir, { recursive: true, force: true }));
  const directory = join(sharedDir, 'mock/1/a');
  await mkdir(directory, { recursive: true });
  await mkdir(join(sharedDir, '.rule-server'));
  await writeFile(join(directory, `${mockId}_result.json`), '{"success":true}');
  return {
    kept: createKeptAnswers(sharedDir, createFileClock(sharedDir)),
    place: { directory, mockId },
    answers: join(sharedDir, '.rule-server/answers'),
  };
}

async function firstOf(paths: string[]): Promise<string | undefined> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}
