import { mkdir, readdir } from 'node:fs/promises';
import { watch } from 'chokidar';
import { unless } from './errno.ts';
import { repeat } from './repeat.ts';

type Options = {
  /** The client's own directory for requests. */
  directory: string;
  pollMs: number;
  /** Told the name of a file that may be a request, as often as it is noticed. */
  onName: (name: string) => void;
  /** Called before each listing of the poll. */
  onPoll: () => Promise<void>;
  onError: (error: unknown) => void;
};

export type Inbox = ReturnType<typeof openInbox>;

/**
 * Notices requests: at once by the file system's events, and by a listing every `pollMs`, which never misses one (network
 * file systems report no events). A directory that a cleaner took away is made again.
 */
export function openInbox({ directory, pollMs, onName, onPoll, onError }: Options) {
  // Raw events only, every file ignored: chokidar's own events cost a listing of the directory each.
  const watcher = watch(directory, {
    depth: 0,
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path !== directory,
  });
  watcher.on('raw', (_event, name) => {
    if (typeof name === 'string') notice(name);
  });
  watcher.on('error', onError);
  const poll = repeat(pollMs, () => onPoll().catch(onError).then(look), onError);

  function notice(name: string): void {
    if (name.endsWith('.json') && !name.endsWith('_result.json') && !name.startsWith('.')) onName(name);
  }

  async function look(): Promise<void> {
    const names = await readdir(directory).catch(unless('ENOENT'));
    if (names === undefined) {
      await mkdir(directory, { recursive: true });
      // The watch is deaf to a new directory of the same name.
      watcher.unwatch(directory);
      watcher.add(directory);
    }
    for (const name of names ?? []) notice(name);
  }

  return {
    /** Lists the directory now. */
    look,
    async close(): Promise<void> {
      await Promise.all([poll.stop(), watcher.close()]);
    },
  };
}
