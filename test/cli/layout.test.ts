import { chown, lstat, mkdir, mkdtemp, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { canActAsOthers } from '../support/stranger.ts';

const GROUP = 60_007;
const WORKER = 54_400;

let sharedDir: string;
beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'layout-'));
});
const run = async (...options: string[]) => {
  const { code, out, err } = await runCli('layout', ...options, '--shared-dir', sharedDir);
  return { code, printed: out + err };
};

describe('rule-server layout', () => {
  it.each([
    ['an app that is no number', ['--app', 'x', '--group', '1'], /--app must be the number of an app/],
    ['a group that is not there', ['--app', '7', '--group', 'no-such-group'], /no group no-such-group.*groupadd/],
    ['a user that is not there', ['--app', '7', '--group', '1', '--worker', 'no-such-user'], /no user no-such-user/],
  ])('refuses %s, and changes nothing', async (_what, options, sentence) => {
    const { code, printed } = await run(...options);
    expect({ code, printed }).toMatchObject({ code: 2, printed: expect.stringMatching(sentence) });
    await expect(stat(join(sharedDir, 'mock'))).rejects.toThrow('ENOENT');
  });
});

describe.skipIf(!canActAsOthers)('rule-server layout (needs root)', () => {
  it('gives what is new and what is there to the group, and is the same when it is run again', async () => {
    await chown(sharedDir, WORKER, WORKER);
    await mkdir(join(sharedDir, 'mock/7/client'), { recursive: true });
    await mkdir(join(sharedDir, 'clients/7'), { recursive: true });
    await writeFile(join(sharedDir, 'clients/7/m_client.json'), '{}');
    for (const _time of [1, 2]) {
      const { code, printed } = await run('--app', '7', '--group', String(GROUP));
      expect(code, printed).toBe(0);
      expect(printed).toContain(`add the workers' user to ${GROUP}`);
      expect(await rightsOf('.')).toEqual({ uid: WORKER, mode: '755' });
      for (const home of ['mock', 'clients']) {
        expect(await rightsOf(home)).toEqual({ uid: WORKER, mode: '755' });
        expect(await rightsOf(`${home}/7`)).toEqual({ uid: WORKER, gid: GROUP, mode: '2770' });
      }
      expect(await rightsOf('mock/7/client')).toEqual({ uid: 0, gid: GROUP, mode: '2770' });
      expect((await stat(join(sharedDir, 'clients/7/m_client.json'))).gid).toBe(GROUP);
    }
  });

  it('names the user of the workers', async () => {
    expect((await run('--app', '7', '--group', String(GROUP), '--worker', String(WORKER))).code).toBe(0);
    expect(await rightsOf('clients')).toEqual({ uid: WORKER, mode: '755' });
  });

  it('changes nothing through a link', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'elsewhere-'));
    await symlink(elsewhere, join(sharedDir, 'mock'));
    const { code, printed } = await run('--app', '7', '--group', String(GROUP), '--worker', String(WORKER));
    expect({ code, printed }).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/mock is no directory \(a link\?\)/),
    });
    expect((await lstat(elsewhere)).uid).toBe(0);
  });
});

/** Where the group is root's it is nobody's concern. */
async function rightsOf(name: string) {
  const { uid, gid, mode } = await stat(join(sharedDir, name));
  return { uid, ...(gid === GROUP && { gid }), mode: (mode & 0o7777).toString(8) };
}
