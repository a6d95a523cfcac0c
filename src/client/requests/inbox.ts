import { mkdir, readdir, utimes } from 'node:fs/promises';
import { watch } from 'chokidar';
import { unless } from '../../shared/runtime/errno.ts';
import { repeat } from '../repeat.ts';
import { createPollPace } from './poll-pace.ts';

type Options = {
  /** The client's own directory for requests. */
  directory: string;
  pollMs: number;
  /** Called with the name of a file that may be a request, each time it is noticed. */
  onName: (name: string) => void;
  /** Called before a listing, every `pollMs`. */
  onPoll: () => Promise<void>;
  onError: (error: unknown) => void;
};

/**
 * Notices requests: at once by the file system's events, and by listings, which never miss one: every `pollMs`, and more often
 * where no events arrive. A directory that a cleaner took away is made again.
 */
export function openInbox({ directory, pollMs, onName, onPoll, onError }: Options) {
  const pace = createPollPace(pollMs);
  let reported = '';
  let polledAt = Number.NEGATIVE_INFINITY;
  const watcher = watchFor(directory);
  watcher.on('raw', (_event, name) => {
    if (typeof name !== 'string' || !isRequest(name)) return;
    pace.event(name);
    onName(name);
  });
  watcher.on('error', onError);
  const polling = repeat(() => pace.gapMs(), pollAndCheck, tellOnce);

  async function pollAndCheck(): Promise<void> {
    if (performance.now() - polledAt >= pollMs) {
      polledAt = performance.now();
      await onPoll().catch(onError);
    }
    await poll();
    reported = '';
  }

  /** A file server that is away fails every poll, 20 times a second. */
  function tellOnce(error: unknown): void {
    const text = String(error);
    if (text !== reported) onError(error);
    reported = text;
  }

  async function poll(): Promise<void> {
    const startedAt = performance.now();
    // sshfs serves listings that are seconds old, unless something was changed through it.
    if (!pace.eventsArrive) await freshen(directory);
    const names = await readdir(directory).catch(unless('ENOENT'));
    if (names === undefined) {
      await mkdir(directory, { recursive: true });
      watchAgain();
    }
    const requests = (names ?? []).filter(isRequest);
    // Another server may have removed the directory and made it again between two polls.
    if (pace.polled(requests, performance.now() - startedAt)) watchAgain();
    for (const name of requests) onName(name);
  }

  /** A watch is deaf to a new directory of the same name. */
  function watchAgain(): void {
    watcher.unwatch(directory);
    watcher.add(directory);
  }

  return {
    /** Lists the directory now. */
    poll,
    async close(): Promise<void> {
      await Promise.all([polling.stop(), watcher.close()]);
    },
  };
}

function isRequest(name: string): boolean {
  return name.endsWith('.json') && !name.endsWith('_result.json') && !name.startsWith('.');
}

/** Changes nothing that anybody reads. A directory that may not be touched is listed as it is. */
async function freshen(directory: string): Promise<void> {
  const now = new Date();
  await utimes(directory, now, now).catch(() => {});
}

/** Raw events only, every file ignored: chokidar's own events cost a listing of the directory each. */
function watchFor(directory: string) {
  return watch(directory, {
    depth: 0,
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path !== directory,
  });
}
