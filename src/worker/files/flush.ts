import { dirname } from 'node:path';
import { unless } from '../../shared/runtime/errno.ts';
import type { Claim } from './claims/claims.ts';
import { directoryAt, flush } from './client-directory.ts';
import type { ExecutionFiles } from './execution-files.ts';

export type Flush = ReturnType<typeof createFlush>;

/**
 * With `FSYNC=1`: puts on the disk what must outlive a power failure of the machine with the shared directory. Without it
 * nothing is flushed, and that machine's file system decides what survives.
 */
export function createFlush({ isOn }: { isOn: boolean }) {
  return {
    /**
     * The request and the folders of its claim, before the request is made visible: once it is, a power failure must not lose its claim.
     */
    async beforeDispatch(
      files: ExecutionFiles,
      { temporary }: Claim,
      claimFolders: () => Promise<string[]>,
    ): Promise<void> {
      if (!isOn) return;
      // Another attempt may have dispatched it.
      await directoryAt(files.directory).sync(temporary).catch(unless('ENOENT'));
      // A symbolic link cannot be flushed: it is in its folder's own data.
      for (const folder of await claimFolders()) {
        await flush(folder);
        await flush(dirname(folder));
      }
    },

    /** The new name of the request: a name that the disk forgets would be given a second time. */
    async dispatched({ directory }: ExecutionFiles): Promise<void> {
      if (isOn) await directoryAt(directory).sync().catch(unless('ENOENT'));
    },
  };
}
