import { execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Mount = { path: string; [Symbol.asyncDispose](): Promise<void> };

/** A directory under two paths, on two machines: no event at `path` tells what is done at `behind`. */
export type TwoSided = Mount & { behind: string };

/** One whose file server can be away: there is none from `goAway` until `comeBack`. */
export type Interruptible = TwoSided & Record<'goAway' | 'comeBack', () => Promise<void>>;

/**
 * Runs a command once this process has ended, however it did: a test run is killed in the middle, and what it mounted must not stay,
 * because programs that look at all file systems would hang. Gives back a function that takes the order back.
 */
export function whenThisEnds(command: string[]): () => void {
  const guard = spawn('sh', ['-c', 'read -r _; "$@"', 'sh', ...command], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // a Ctrl+C is for us alone
  });
  guard.unref();
  return () => void guard.kill('SIGKILL');
}

/** What `program` mounts at `path`, until it is disposed of; the directory goes with it. */
export async function mounted(path: string, [program = '', ...parameters]: string[]): Promise<Mount> {
  try {
    await run(program, parameters);
  } catch (error) {
    await removed(path);
    throw error;
  }
  const takeBack = whenThisEnds(['umount', '--lazy', path]);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', path]);
      takeBack();
      await removed(path);
    },
  };
}

export function removed(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Whether something can be mounted here. It is unmounted again. */
export function works(mounting: Promise<Mount>): Promise<boolean> {
  return mounting.then(
    async (mount) => {
      await mount[Symbol.asyncDispose]();
      return true;
    },
    () => false,
  );
}
