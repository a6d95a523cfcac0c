import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { atMost } from '../../shared/runtime/at-most.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { inDirectory } from './directory-limit.ts';
import { resultFileName } from './file-names.ts';
import { createListingSchedule } from './listing-schedule.ts';
import { namesIn } from './real-directory.ts';
import { countOthers, type Watched } from './watched-directory.ts';

const LISTINGS_AT_ONCE = 16;
/** A listing that takes longer does not keep those of other directories waiting. */
const HANGS_AFTER_MS = 1000;
/** The dispatch itself is an event: a watch that heard nothing for this long is deaf. */
const DEAF_AFTER_MS = 5000;

/** The listings of the watched directories: each has one schedule for all its waits, and at most one under way. */
export function createLists(pollIntervalMs: number, rearm: (watched: Watched) => void, log: Logger) {
  const schedule = createListingSchedule(pollIntervalMs);
  const limit = createConcurrencyLimit(LISTINGS_AT_ONCE);
  const alert = createThrottledAlert(log, 'A directory cannot be listed');

  /** Of two plans the earlier one counts, so that waits that keep coming do not put a listing off for ever. */
  function plan(watched: Watched): void {
    if (watched.listing) return;
    const gapMs = schedule.gapMs(watched);
    const dueAt = performance.now() + gapMs;
    if (watched.next && watched.next.dueAt <= dueAt) return;
    clearTimeout(watched.next?.timer);
    const timer = setTimeout(() => {
      watched.next = null;
      if (watched.listeners.size > 0) run(watched);
    }, gapMs);
    watched.next = { timer, dueAt };
  }

  function run(watched: Watched): void {
    watched.listing = true;
    limit(() => atMost(HANGS_AFTER_MS, list(watched)));
  }

  async function list(watched: Watched): Promise<void> {
    const startedAt = performance.now();
    try {
      await tellListeners(watched, rearm);
      alert.ends();
    } catch (error) {
      alert.begins(error, 'it is tried again and again; is the file server there?');
    } finally {
      watched.lastTookMs = performance.now() - startedAt;
      schedule.took(watched.lastTookMs);
      watched.listing = false;
      plan(watched);
    }
  }

  return { plan, stretch: schedule.stretch };
}

async function tellListeners(watched: Watched, rearm: (watched: Watched) => void): Promise<void> {
  // A listener that is added while the directory is read is not told: its request may have come too late to be seen.
  const listeners = [...watched.listeners];
  const found = await inDirectory(watched.directory, () =>
    namesIn(watched.directory, readdir).catch(unless('ENOENT', 'ENOTDIR')),
  );
  if (found && (watched.missing || isDeaf(watched))) rearm(watched);
  watched.missing = found === undefined;
  watched.others = countOthers(watched, found ?? []);
  const names = found ? new Set(found) : null;
  const registered = watched.registration === null || (await isThere(watched.registration));
  for (const [mockId, listener] of listeners) {
    if (names && !watched.eventsArrive) await addIfThere(names, watched.directory, resultFileName(mockId));
    if (watched.listeners.get(mockId) === listener) listener({ kind: 'listing', names, registered });
  }
}

/** Some network file systems serve listings that are seconds old, while a look at the new name itself finds it. */
async function addIfThere(names: Set<string>, directory: string, name: string): Promise<void> {
  if (names.has(name)) return;
  const isThere = await inDirectory(directory, () =>
    lstat(join(directory, name)).then(
      () => true,
      () => false,
    ),
  );
  if (isThere) names.add(name);
}

/** If a directory is recreated quickly, chokidar drops the new watch with the old one. */
function isDeaf({ armedAt, listeningSince, heardAt }: Watched): boolean {
  return heardAt < listeningSince && Date.now() - Math.max(armedAt, listeningSince) > DEAF_AFTER_MS;
}

/** Whether a registration is there; one that cannot be looked at is not gone. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}
