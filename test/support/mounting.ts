import { execFile, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Mount = { path: string; [Symbol.asyncDispose](): Promise<void> };

/** A directory under two paths, on two machines: no event at `path` tells what is done at `behind`. */
export type TwoSided = Mount & { behind: string };

/** One whose file server can be away: there is none from `goAway` until `comeBack`. */
export type Interruptible = TwoSided & Record<'goAway' | 'comeBack', () => Promise<void>>;

// A test run that ends in the middle must not leave mounts behind: programs that look at all file systems would hang.
const paths = new Set<string>();
process.once('exit', () => {
  if (paths.size > 0) spawnSync('umount', ['--lazy', ...paths], { stdio: 'ignore' });
});

/** What `program` mounts at `path`, until it is disposed of; the directory goes with it. */
export async function mounted(path: string, [program = '', ...parameters]: string[]): Promise<Mount> {
  try {
    await run(program, parameters);
  } catch (error) {
    await removed(path);
    throw error;
  }
  paths.add(path);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', path]);
      paths.delete(path);
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
