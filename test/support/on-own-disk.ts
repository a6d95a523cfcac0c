// For `node --import`: the process takes FUSE for ext4, so that it works as on a disk of its own machine. It keeps no store on FUSE.
import { createRequire, syncBuiltinESMExports } from 'node:module';

const FUSE = 0x65735546;
const EXT4 = 0xef53;
const files: typeof import('node:fs') = createRequire(import.meta.url)('node:fs');

function seen<T extends { type: number | bigint }>(found: T): T {
  if (Number(found.type) === FUSE) found.type = EXT4;
  return found;
}

const { statfsSync } = files;
const { statfs } = files.promises;
Object.assign(files, { statfsSync: (path: string) => seen(statfsSync(path)) });
Object.assign(files.promises, { statfs: async (path: string) => seen(await statfs(path)) });
syncBuiltinESMExports();
