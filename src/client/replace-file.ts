import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Puts a whole file in place: readers see the old one or the new one, never half of either. */
export async function replaceFile(path: string, text: string): Promise<void> {
  // Readers take nothing that does not end in .json, and several clients may replace the same file at once.
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    await writeFile(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}
