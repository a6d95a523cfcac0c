import { realpathSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';
import type { QuickFiles } from '../../../src/worker/files/ports/operations.ts';
import { echoes } from '../../support/echoes.ts';
import { createResponder } from '../../support/responder.ts';
import { startService } from '../../support/start-service.ts';

it('with FSYNC=1 the request, its claim, the claim’s folder and then the dispatch are flushed', async () => {
  expect(await operationsOfOneExecution(1)).toEqual([
    ...['claim', 'flush request', 'flush claims/minute', 'flush claims', 'dispatch', 'flush client'],
  ]);
});

it('without it nothing is flushed', async () => {
  expect(await operationsOfOneExecution(0)).toEqual(['claim', 'dispatch']);
});

/** What the service did with real files for one execution, in order. */
async function operationsOfOneExecution(FSYNC: number): Promise<string[]> {
  const done: string[] = [];
  const noted = <T extends Pick<QuickFiles, 'open' | 'rename' | 'symlink'>>(files: T): T => ({
    ...files,
    async open(path: string, flags: string | number, mode?: number) {
      const file = await files.open(path, flags, mode);
      const real = realpathSync(path);
      const sync = async () => {
        await file.sync();
        done.push(`flush ${real}`);
      };
      return { ...file, sync };
    },
    async rename(from: string, to: string) {
      await files.rename(from, to);
      done.push(`rename ${to}`);
    },
    async symlink(target: string, path: string) {
      await files.symlink(target, path);
      done.push(`symlink ${path}`);
    },
  });
  const own = createProcess(filesOf.as({ ...noted(nodeFiles), atOnce: noted(nodeFiles.atOnce) }));
  await using service = await own.run(() => startService({ settings: { FSYNC } }));
  await using _client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: echoes() });
  const { status, json } = await service.execute({ app: 1, ruleId: 1 });
  expect(status).toBe(200);
  return done.flatMap((what) => nameOf(what, json.mockId));
}

function nameOf(what: string, mockId: string): string[] {
  if (what.startsWith('symlink') && what.includes('/claims/') && what.endsWith(mockId)) return ['claim'];
  if (what.startsWith('rename') && what.endsWith(`/${mockId}.json`)) return ['dispatch'];
  if (!what.startsWith('flush')) return [];
  if (what.includes(mockId)) return ['flush request'];
  if (/\/claims\/\d+$/.test(what)) return ['flush claims/minute'];
  if (what.endsWith('/claims')) return ['flush claims'];
  return /\/mock\/1\/[^/]+$/.test(what) ? ['flush client'] : [];
}
