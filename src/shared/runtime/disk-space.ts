/** What `statfs` tells of the room on a file system. */
export type DiskSpace = { blocks: number; bavail: number; files: number; ffree: number };

/** What of a file system is used up, so that no user can make a file there; null while there is room. Some have no numbers. */
export function usedUp({ blocks, bavail, files, ffree }: DiskSpace): 'bytes' | 'inodes' | null {
  if (blocks > 0 && bavail === 0) return 'bytes';
  return files > 0 && ffree === 0 ? 'inodes' : null;
}
