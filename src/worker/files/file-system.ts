import { statfs } from 'node:fs/promises';
import { servedFileSystems } from '../../shared/runtime/served-file-systems.ts';

/** Something else may be mounted at a path later, so it is asked again after this long. */
const REMEMBERED_MS = 30_000;

type Known = { name: Promise<string>; askedAt: number };
const known = new Map<string, Known>();

/** The file system that a shared directory lies on: `local`, or its name in `servedFileSystems`. Throws what `statfs` does. */
export function fileSystemOf(sharedDir: string): Promise<string> {
  const last = known.get(sharedDir);
  if (last && performance.now() - last.askedAt < REMEMBERED_MS) return last.name;
  const name = statfs(sharedDir).then(({ type }) => servedFileSystems.get(type) ?? 'local');
  const asked = { name, askedAt: performance.now() };
  known.set(sharedDir, asked);
  name.catch(() => known.get(sharedDir) === asked && known.delete(sharedDir));
  return name;
}
