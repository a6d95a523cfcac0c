import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../src/shared/runtime/errno.ts';

/** What is in the folders that only workers use, claims and kept answers. Once everything is old there are only empty marks. */
export async function privateLeftovers(sharedDir: string): Promise<string[]> {
  const found = await Promise.all(
    ['claims', 'answers'].map(async (folder) => {
      const names = await readdir(join(sharedDir, '.rule-server', folder), { recursive: true }).catch(unless('ENOENT'));
      return (names ?? []).filter((name) => !/^\d+\.swept$/.test(name)).map((name) => join(folder, name));
    }),
  );
  return found.flat();
}
