import { quickly, whereFilesAre } from '../../src/worker/files/quick-files.ts';

/** Makes the disk of a path count as slow: most of the last operations were, and the next ones are handed over to another thread. */
export async function makeSlow(path: string): Promise<void> {
  while (whereFilesAre(path) === 'here') {
    await quickly(path, async () => {
      const until = performance.now() + 1;
      while (performance.now() < until);
    });
  }
}
