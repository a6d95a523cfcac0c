import { join, resolve } from 'node:path';
import { askForBackup, NoStore } from '../../shared/store/embedded/file/store-socket.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { sharedDirOf } from './shared-dir.ts';

export type BackupOptions = { sharedDir?: string };

/** Has the process that keeps the store in a shared directory write a copy of it, while it works on. */
export async function backup(file: string, { sharedDir }: BackupOptions, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const folder = join(sharedDirOf(sharedDir, surroundings), '.rule-server/store');
  const to = resolve(file);
  try {
    const bytes = await askForBackup(folder, to);
    stdout.write(
      `${to}: ${(bytes / 1024 / 1024).toFixed(1)} MB. To put it back, stop the service, copy it to ${join(folder, 'restore.db')}, and start the service.\n`,
    );
    return exitCodes.ok;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof NoStore)
      throw new CommandFailed(
        `Nothing was copied: ${why}. Say with --shared-dir where "rule-server all" keeps it; on Redis, back Redis up.`,
        exitCodes.unreachable,
      );
    throw new CommandFailed(`Nothing was copied: ${why}.`, exitCodes.rejected);
  }
}
