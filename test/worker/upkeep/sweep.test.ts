import { mkdir, mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { createClaims } from '../../../src/worker/files/claims/claims.ts';
import { MADE_BY_US } from '../../../src/worker/files/file-names.ts';
import { createFileClock } from '../../../src/worker/files/shared-directory.ts';
import { canMount, mountTemporary, remount } from '../../support/mounts.ts';
import { captureLog } from '../../support/start-service.ts';
import { sweepLater } from '../../support/sweep-later.ts';

const id = '7f3a5c1e-0000-4000-8000-000000000001';
const ofAnExecution = [
  `${id}.json`,
  `${id}_result.json`,
  `${id}_result.json.tmp`,
  `.${id}.open`,
  `.${id}.0a1b2c3d.tmp`,
];

describe('the sweep', () => {
  it('removes every file of an execution that nobody can wait for any more', async () => {
    const { sharedDir, client } = await directoryWith(ofAnExecution);
    await sweepLater(sharedDir);
    expect(await readdir(client)).toEqual([]);
  });

  it('removes a directory that a client put where its result belongs', async () => {
    const { sharedDir, client } = await directoryWith([]);
    await mkdir(join(client, `${id}_result.json`, 'inside'), { recursive: true });
    await sweepLater(sharedDir);
    expect(await readdir(client)).toEqual([]);
  });

  it('leaves alone what is younger than that', async () => {
    const { sharedDir, client } = await directoryWith(ofAnExecution);
    const tomorrow = new Date(Date.now() + 86_400_000);
    for (const name of ofAnExecution) await utimes(join(client, name), tomorrow, tomorrow);
    await sweepLater(sharedDir);
    expect((await readdir(client)).sort()).toEqual([...ofAnExecution].sort());
  });

  it('takes no file for old because its writer says so: it is as old as its last change', async () => {
    const { sharedDir, client } = await directoryWith(ofAnExecution);
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const name of ofAnExecution) await utimes(join(client, name), yesterday, yesterday);
    await sweepLater(sharedDir, { afterMs: 0 });
    expect((await readdir(client)).sort()).toEqual([...ofAnExecution].sort());
  });

  it('offers an old result before it removes it, and leaves the one that somebody looks out for', async () => {
    const other = id.replace(/1$/, '2');
    const { sharedDir, client } = await directoryWith([`${id}_result.json`, `${other}_result.json`]);
    await sweepLater(sharedDir, { onResult: async (mockId) => mockId === other });
    expect(await readdir(client)).toEqual([`${other}_result.json`]);
  });

  it('never removes a file that is not ours, or the directory of a client', async () => {
    const foreign = ['notes.json', 'a_result.json', '.hidden', `${id}.json.bak`, `x${id}.json`];
    const { sharedDir, client } = await directoryWith(foreign);
    await sweepLater(sharedDir);
    expect((await readdir(client)).sort()).toEqual([...foreign].sort());
  });

  it('removes a directory we made for somebody who never came', async () => {
    const { sharedDir } = await directoryWith([MADE_BY_US, ...ofAnExecution]);
    await sweepLater(sharedDir);
    expect(await readdir(join(sharedDir, 'mock/1'))).toEqual([]);
  });

  it('keeps such a directory, still marked, while there is anything else in it', async () => {
    const { sharedDir, client } = await directoryWith([MADE_BY_US, 'notes.json']);
    await sweepLater(sharedDir);
    expect((await readdir(client)).sort()).toEqual([MADE_BY_US, 'notes.json']);
  });

  it('removes claims with their minute', async () => {
    const { sharedDir } = await directoryWith([]);
    const claims = createClaims(sharedDir, createFileClock(sharedDir));
    const key = { mockId: id, claimBy: Date.now() + 10_000 };
    await claims.prepareUnlessPast(key);
    await claims.refuse(key, noAnswer('no-room', {}));
    await sweepLater(sharedDir);
    const claimed = await readdir(join(sharedDir, '.rule-server/claims'), { recursive: true });
    expect(claimed).toEqual([expect.stringMatching(/^\d+\.swept$/)]);
  });

  it('asks no more whether results are looked out for once nobody can say, leaves them, and sweeps everything else', async () => {
    const results = ['2', '3'].map((last) => `${id.replace(/1$/, last)}_result.json`);
    const { sharedDir, client } = await directoryWith([`${id}.json`, ...results]);
    let asked = 0;
    const onResult = async () => {
      asked++;
      throw new Error('the queue store is away');
    };
    await sweepLater(sharedDir, { onResult });
    expect((await readdir(client)).sort()).toEqual(results);
    expect(asked).toBe(1);
  });

  it('removes nothing when it cannot tell how old it is: its own clock may be wrong', async () => {
    const { sharedDir, client } = await directoryWith(ofAnExecution);
    await mkdir(join(sharedDir, '.rule-server/claims/1000'), { recursive: true });
    await writeFile(join(sharedDir, '.rule-server/clocks'), 'in the way');
    const { log, lines } = captureLog();
    await sweepLater(sharedDir, { log }).catch(() => {});
    expect(await readdir(join(sharedDir, '.rule-server/claims'))).toEqual(['1000']);
    expect(await readdir(client)).toHaveLength(ofAnExecution.length);
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^Some files cannot be swept: /)]);
  });

  it.skipIf(!canMount)('goes on after what it cannot remove, and says so once', async () => {
    const { sharedDir, client } = await directoryWith([]);
    const claims = join(sharedDir, '.rule-server/claims');
    for (const path of [`${claims}/1000`, `${claims}/1001`, join(sharedDir, 'mock/1/b')])
      await mkdir(path, { recursive: true });
    await writeFile(join(sharedDir, 'mock/1/b', `${id}.json`), '');
    await using _client = await mountTemporary('1m', client);
    await using _claims = await mountTemporary('1m', `${claims}/1000`);
    for (const name of ofAnExecution) await writeFile(join(client, name), '');
    await remount(client, 'ro');
    const { log, lines } = captureLog();
    await sweepLater(sharedDir, { log });
    expect(await readdir(client)).toHaveLength(ofAnExecution.length);
    expect(await readdir(join(sharedDir, 'mock/1/b'))).toEqual([]);
    expect(await readdir(claims)).toEqual(['1000', '1001.swept']);
    expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^Some files cannot be swept: /),
    ]);
  });
});

async function directoryWith(names: string[]): Promise<{ sharedDir: string; client: string }> {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-sweep-'));
  const client = join(sharedDir, 'mock/1/a');
  await mkdir(client, { recursive: true });
  await mkdir(join(sharedDir, '.rule-server'));
  for (const name of names) await writeFile(join(client, name), '');
  return { sharedDir, client };
}
