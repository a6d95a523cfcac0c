import { basename } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { readFileName } from './file-names.ts';
import { liesElsewhere } from './mounts.ts';
import type { Watched } from './watched-directory.ts';

/**
 * The raw events of the watched directories.
 *
 * Each directory has a chokidar watcher of its own: one watcher for all never forgets a directory that it was told to leave, and goes
 * through all of those at every event.
 */
export function openEvents(pollIntervalMs: number, log: Logger) {
  const watchers = new Map<string, FSWatcher>();
  const alert = createThrottledAlert(log, 'Directories cannot be watched');

  function add(watched: Watched): void {
    if (liesElsewhere(watched.directory)) return; // to watch a directory whose server is away would stop this process
    const watcher = watchRaw(watched.directory, (name) => noteEvent(watched, name));
    watcher.on('error', (error) => {
      alert.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`);
    });
    watchers.set(watched.directory, watcher);
  }

  async function drop(directory: string): Promise<void> {
    const watcher = watchers.get(directory);
    watchers.delete(directory);
    await watcher?.close();
  }

  return {
    add,
    drop,
    /** A directory that came back under the same name is another one: its watch is deaf. */
    rearm(watched: Watched): void {
      watched.armedAt = Date.now();
      watched.eventsArrive = false;
      void drop(watched.directory);
      add(watched);
    },
    async close(): Promise<void> {
      await Promise.all([...watchers.keys()].map(drop));
    },
  };
}

/**
 * Only chokidar's raw events are used, with every file ignored: its own add and change events cost a listing of the directory
 * each, which a busy directory turns into a full core.
 */
function watchRaw(directory: string, tell: (name: string) => void): FSWatcher {
  const watcher = watch(directory, {
    depth: 0,
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path !== directory,
  });
  // Chokidar would also look at the file of each raw event, only to ignore it. That is half of what an event costs.
  watcher.on('ready', () => {
    watcher.isUnwatched = () => true;
  });
  return watcher.on('raw', (_event, name) => {
    if (typeof name === 'string') tell(name);
  });
}

function noteEvent(watched: Watched, name: string): void {
  watched.heardAt = Date.now();
  const file = readFileName(name);
  if (!file) {
    if (name === basename(watched.directory)) watched.missing = true; // the directory itself went
    return;
  }
  const waiting = watched.listeners.get(file.mockId);
  // Our own renames are announced on any file system: only a result proves that what clients do is announced, too.
  if (waiting && file.kind === 'result') watched.eventsArrive = true;
  waiting?.tell({ kind: `${file.kind}-event` });
}
