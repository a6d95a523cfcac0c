import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../../sdks/run.ts';

const root = join(import.meta.dirname, '../../..');

/** Compiles the Node SDK into `dist`, as a release does. Tests that read there meanwhile find each file whole: it is put in place by a rename. */
export async function buildClient(): Promise<void> {
  const built = await mkdtemp(join(root, 'dist-'));
  try {
    const options = ['-p', 'tsconfig.client.json', '--outDir', built];
    await run(join(root, 'node_modules/.bin/tsc'), options, { cwd: root, timeoutMs: 60_000 });
    for (const entry of await readdir(built, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const place = join(root, 'dist', path.slice(built.length));
      await mkdir(dirname(place), { recursive: true });
      await rename(path, place);
    }
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}
