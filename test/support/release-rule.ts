import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Releases rule 1 of an app, made of these nodes with the root 1, as this version. */
export async function releaseRule(
  sharedDir: string,
  app: number,
  nodes: Record<number, object>,
  version = 1,
): Promise<void> {
  const files = {
    'bases/1.json': { id: 1, status: 1, confId: 1 },
    ...Object.fromEntries(
      Object.entries(nodes).map(([id, members]) => [`confs/${id}.json`, { id: Number(id), status: 1, ...members }]),
    ),
    'version.txt': version,
  };
  for (const [name, content] of Object.entries(files)) {
    const path = join(sharedDir, String(app), name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, JSON.stringify(content));
  }
}
