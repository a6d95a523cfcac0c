import { basename } from 'node:path';
import { createThrottledAlert, type Logger } from '../../../shared/runtime/telemetry/logger.ts';
import { time } from '../../../shared/seams/time.ts';
import { readFileName } from '../file-names.ts';
import { liesElsewhere } from '../mounts.ts';
import { filesOf } from '../seams/files.ts';
import type { Watch } from '../seams/operations.ts';
import type { Watched } from './watched-directory.ts';

/**
 * The raw events of the watched directories.
 *
 * Each directory has a watcher of its own: one watcher for all never forgets a directory that it was told to leave, and goes
 * through all of those at every event.
 */
export function openEvents(pollIntervalMs: number, log: Logger) {
  const watchers = new Map<string, Watch>();
  const alert = createThrottledAlert(log, 'Directories cannot be watched');

  function add(watched: Watched): void {
    if (liesElsewhere(watched.directory)) return; // to watch a directory whose server is away would stop this process
    const watcher = filesOf().watch(watched.directory, {
      armed: () => noteArmed(watched),
      event: (name) => noteEvent(watched, name),
      error: (error) =>
        alert.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`),
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
      watched.armedAt = time.now();
      watched.eventsArrive = false;
      void drop(watched.directory);
      add(watched);
    },
    async close(): Promise<void> {
      await Promise.all([...watchers.keys()].map(drop));
    },
  };
}

/** Results that came before were not told. On a busy machine it takes a while until a watch is set up, and until the next look. */
function noteArmed({ listeners }: Watched): void {
  for (const waiting of listeners.values()) waiting.tell({ kind: 'result-event' });
}

function noteEvent(watched: Watched, name: string): void {
  watched.heardAt = time.now();
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
