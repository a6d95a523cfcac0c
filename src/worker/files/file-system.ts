import { servedFileSystems } from '../../shared/runtime/served-file-systems.ts';
import { shareFor } from '../../shared/runtime/share-for.ts';
import { perProcess } from '../../shared/seams/process.ts';
import { statfs } from './seams/files.ts';

/** Something else may be mounted at a path later, so it is asked again after this long. */
const REMEMBERED_MS = 30_000;

/** The file system that a shared directory lies on: `local`, or its name in `servedFileSystems`. Throws what `statfs` does. */
export const fileSystemOf = (sharedDir: string) => asked()(sharedDir);

const asked = perProcess(() =>
  shareFor(REMEMBERED_MS, async (sharedDir) => {
    const { type } = await statfs(sharedDir);
    return servedFileSystems.get(type) ?? 'local';
  }),
);
