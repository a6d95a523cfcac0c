import { accessSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { copyDatabase } from '../../shared/store/embedded/file/backup.ts';
import { FILE } from '../../shared/store/embedded/file/embedded-store.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { sharedDirOf } from './shared-dir.ts';

type BackupOptions = { sharedDir?: string };

/** Copies the store that a process keeps in a shared directory, while that process works on. */
export async function backup(file: string, { sharedDir }: BackupOptions, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const folder = join(sharedDirOf(sharedDir, surroundings), '.rule-server/store');
  const to = resolve(file);
  try {
    accessSync(join(folder, FILE));
  } catch (error) {
    throw new CommandFailed(
      `Nothing was copied: no process keeps a store in ${folder} (${errnoOf(error)}). Say with --shared-dir where "rule-server all" keeps it; on Redis, back Redis up.`,
      exitCodes.unreachable,
    );
  }
  try {
    const bytes = copyDatabase(join(folder, FILE), to);
    stdout.write(
      `${to}: ${(bytes / 1024 / 1024).toFixed(1)} MB. To put it back, stop the service, copy it to ${join(folder, 'restore.db')}, and start the service.\n`,
    );
    return exitCodes.ok;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`Nothing was copied: ${why}.`, exitCodes.rejected);
  }
}
