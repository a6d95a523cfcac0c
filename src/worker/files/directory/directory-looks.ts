import { atMost } from '../../../shared/runtime/at-most.ts';
import { unless } from '../../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../../shared/runtime/telemetry/logger.ts';
import { time } from '../../../shared/seams/time.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { resultFileName } from '../file-names.ts';
import { createLookSchedule } from '../look-schedule.ts';
import { FEW, lookByName, nextDue, noteResult } from '../looks-by-name.ts';
import { isRegistered } from '../registration-file.ts';
import { readdir } from '../seams/files.ts';
import { timed } from '../timed.ts';
import { limitedByDirectory } from './directory-limit.ts';
import { namesIn } from './real-directory.ts';
import { countOthers, type Watched } from './watched-directory.ts';

const LOOKS_AT_ONCE = 16;
/** A look that takes longer does not keep those into other directories waiting. */
const HANGS_AFTER_MS = 1000;
/** The dispatch itself is an event: a watch that heard nothing for this long is deaf. */
const DEAF_AFTER_MS = 5000;

/**
 * The looks into the watched directories: each has one schedule for all its waits, and at most one look under way. A look is
 * a listing. Where no event arrives it also opens the results by their names, because some network file systems serve
 * listings that are seconds old; and where few wait, that alone is the quicker look.
 */
export function createLooks(pollIntervalMs: number, rearm: (watched: Watched) => void, log: Logger) {
  const schedule = createLookSchedule(pollIntervalMs);
  const limit = createConcurrencyLimit(LOOKS_AT_ONCE);
  const alert = createThrottledAlert(log, 'A directory cannot be listed');

  /** Of two plans the earlier one counts, so that waits that keep coming do not put a look off for ever. */
  function plan(watched: Watched): void {
    if (watched.looking) return;
    const { ms, stretched } = schedule.gap(watched, nextDue(watched));
    const dueAt = time.monotonic() + ms;
    if (watched.next && watched.next.dueAt <= dueAt) return;
    time.clearTimeout(watched.next?.timer);
    const timer = time.setTimeout(() => {
      watched.next = null;
      if (watched.listeners.size > 0) run(watched, stretched);
    }, ms);
    watched.next = { timer, dueAt };
  }

  function run(watched: Watched, stretched: number): void {
    watched.looking = true;
    limit(() => atMost(HANGS_AFTER_MS, look(watched, stretched)));
  }

  async function look(watched: Watched, stretched: number): Promise<void> {
    let tookMs = 0;
    try {
      if (isListingDue(watched, pollIntervalMs)) tookMs += await list(watched, rearm);
      if (!watched.eventsArrive) tookMs += await lookByName(watched, schedule.allowedMs(watched));
      alert.ends();
    } catch (error) {
      alert.begins(error, 'the worker tries again and again; is the file server there?');
    } finally {
      watched.lookedAt = time.monotonic();
      watched.lastTookMs = tookMs;
      schedule.took(tookMs, stretched);
      watched.looking = false;
      plan(watched);
    }
  }

  return { plan, share: schedule.share, stretch: schedule.stretch };
}

/** A listing is several trips over the network, and a look by name is one. */
function isListingDue({ eventsArrive, listeners, listedAt }: Watched, pollIntervalMs: number): boolean {
  return eventsArrive || listeners.size > FEW || time.monotonic() - listedAt >= pollIntervalMs;
}

/** Lists a directory, tells its listeners, and resolves with how long that took, in ms. */
async function list(watched: Watched, rearm: (watched: Watched) => void): Promise<number> {
  // A listener that is added while the directory is read is not told: its request may have come too late to be seen.
  const listeners = [...watched.listeners];
  watched.listedAt = time.monotonic();
  let tookMs = 0;
  const read = async (path: string) => {
    const listed = await limitedByDirectory(path, () => timed(() => readdir(path)));
    tookMs += listed.tookMs;
    return listed.value;
  };
  const found = await namesIn(watched.directory, read).catch(unless('ENOENT', 'ENOTDIR'));
  if (found && (watched.missing || isDeaf(watched))) rearm(watched);
  watched.missing = found === undefined;
  watched.others = countOthers(watched, found ?? []);
  const names = found ? new Set(found) : null;
  const registration = await timed(async () => watched.registration === null || isRegistered(watched.registration));
  for (const [mockId, waiting] of listeners) {
    if (names?.has(resultFileName(mockId))) noteResult(watched, waiting);
    if (watched.listeners.get(mockId) === waiting)
      waiting.tell({ kind: 'listing', names, registered: registration.value });
  }
  return tookMs + registration.tookMs;
}

/** If a directory is recreated quickly, chokidar drops the new watch with the old one. */
function isDeaf({ armedAt, listeningSince, heardAt }: Watched): boolean {
  return heardAt < listeningSince && time.now() - Math.max(armedAt, listeningSince) > DEAF_AFTER_MS;
}
