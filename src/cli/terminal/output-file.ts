import { existsSync } from 'node:fs';
import { access, constants, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { unusablePath } from '../../shared/runtime/settings/setting-kinds.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailed } from './surroundings.ts';

/** `instead`: where the content can be found if writing fails. */
type WriteOutput = (text: string, instead: string) => Promise<void>;

/**
 * Creates the folder of a file and checks that the file can be written, so that a wrong path is refused before anything runs. Does not
 * create the file.
 */
export async function openOutput(option: string, path: string): Promise<WriteOutput> {
  const failed = (error: unknown, more: string, exitCode: number) => {
    const why = error instanceof Error ? error.message : String(error);
    return new CommandFailed(`${option} ${path} cannot be written: ${why}. ${more}`, exitCode);
  };
  const why =
    path === '-'
      ? 'must be a file: standard output is of the command itself (a file of that name: ./-)'
      : unusablePath(path);
  if (why !== undefined) throw new CommandFailed(`${option} ${why}. Nothing ran.`, exitCodes.usage);
  try {
    await mkdir(dirname(resolve(path)), { recursive: true });
    await checkWritable(path);
  } catch (error) {
    throw failed(error, 'Nothing ran.', exitCodes.usage);
  }
  return (text, instead) =>
    writeFile(path, text).catch((error) => {
      throw failed(error, instead, exitCodes.failed);
    });
}

/** The same for a file that must not be there yet, unless `force` is given. */
export async function openNewOutput(option: string, path: string, force: boolean): Promise<WriteOutput> {
  const write = await openOutput(option, path);
  if (!force && existsSync(path))
    throw new CommandFailed(
      `${path} is there already. Nothing was changed: give another ${option}, or --force.`,
      exitCodes.failed,
    );
  return write;
}

async function checkWritable(path: string): Promise<void> {
  const found = await stat(path).catch((error) => {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found?.isDirectory()) throw new Error('it is a directory');
  await access(found === null ? dirname(resolve(path)) : path, constants.W_OK);
}
