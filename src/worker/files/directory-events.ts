import { basename } from 'node:path';
import { watch } from 'chokidar';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { readFileName } from './file-names.ts';
import type { Watched } from './watched-directory.ts';

/**
 * The raw events of the watched directories.
 *
 * Only chokidar's raw events are used, with every file ignored: its own add and change events cost a listing of the
 * directory each, which a busy directory turns into a full core.
 */
export function openEvents(directories: ReadonlyMap<string, Watched>, pollIntervalMs: number, log: Logger) {
  const alert = createThrottledAlert(log, 'Directories cannot be watched');
  const watcher = watch([], {
    depth: 0,
    ignoreInitial: false,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => !directories.has(path),
  });
  watcher.on('raw', (_event, name, details) => {
    const watched = directories.get(watchedPath(details));
    if (watched && typeof name === 'string') noteEvent(watched, name);
  });
  watcher.on('error', (error) => {
    alert.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`);
  });
  return {
    add: (directory: string) => void watcher.add(directory),
    drop: (directory: string) => void watcher.unwatch(directory),
    /** A directory that came back under the same name is another one: its watch is deaf. */
    rearm(watched: Watched): void {
      watched.armedAt = Date.now();
      watched.eventsArrive = false;
      watcher.unwatch(watched.directory);
      watcher.add(watched.directory);
    },
    close: () => watcher.close(),
  };
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

function watchedPath(details: unknown): string {
  return typeof details === 'object' && details !== null && 'watchedPath' in details ? String(details.watchedPath) : '';
}
