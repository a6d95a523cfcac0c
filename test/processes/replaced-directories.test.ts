import { watch } from 'node:fs';
import { mkdir, readdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { canMountDeaf, mountDeaf } from '../support/mounts.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const settings = { RESULT_TIMEOUT_MS: 8000, QUEUE_TIMEOUT_MS: 8000, CLIENT_TIMEOUT_MS: 30_000 };
const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };

describe('a client’s directory that is replaced by a link', () => {
  it('right after it was looked at: no request is written where the link leads', async () => {
    await using service = await startService({ settings, leavesFiles: true, logsErrors: true });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: echoes() });
    const outside = await elsewhere(service.sharedDir);
    const written: string[] = [];
    const watcher = watch(outside, (_event, name) => void written.push(String(name)));
    expect((await service.execute(CALL)).status).toBe(200);
    await client.stop();
    const link = await replace(client.directory, outside);
    const { status } = await service.execute(CALL);
    expect(status).not.toBe(200);
    expect(await readdir(outside)).toEqual([]);
    expect(written).toEqual([]);
    watcher.close();
    await link.undo();
  });

  it('during a wait: no file outside is taken for the answer, or removed', async () => {
    await using service = await startService({ settings, leavesFiles: true, logsErrors: true });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: picksUpAndStaysSilent });
    const outside = await elsewhere(service.sharedDir);
    const call = service.execute(CALL);
    const { mockId } = await client.firstRequest();
    await client.stop();
    const files = [`${mockId}.json`, `${mockId}_result.json`];
    for (const name of files)
      await writeFile(join(outside, name), JSON.stringify({ mockId, success: true, 'the service': { not: 'ours' } }));
    const link = await replace(client.directory, outside);
    const { status, json } = await call;
    expect([status, json.success]).not.toEqual([200, true]);
    expect((await readdir(outside)).sort()).toEqual(files);
    await link.undo();
  });

  it.skipIf(!canMountDeaf)(
    'where a file system resolves paths by itself: it is noticed (needs root and bindfs)',
    async () => {
      await using disk = await mountDeaf();
      await mkdir(join(disk.behind, 'mock'));
      await using service = await startService({ settings, sharedDir: disk.path, leavesFiles: true, logsErrors: true });
      await using client = await createResponder({ sharedDir: disk.path, app: 1, does: echoes() });
      expect((await service.execute(CALL)).status).toBe(200);
      const outside = await elsewhere(disk.path);
      const link = await replace(client.directory, outside);
      const { status, json } = await service.execute(CALL);
      expect([status, json.success]).not.toEqual([200, true]);
      await link.undo();
    },
  );
});

async function elsewhere(sharedDir: string): Promise<string> {
  const outside = join(sharedDir, 'outside');
  await mkdir(outside);
  return outside;
}

async function replace(directory: string, outside: string) {
  const aside = `${directory}.aside`;
  const link = `${directory}.link`;
  await symlink(outside, link);
  await rename(directory, aside);
  await rename(link, directory);
  return {
    aside,
    async undo() {
      await rename(directory, link);
      await rename(aside, directory);
      await unlink(link);
    },
  };
}
