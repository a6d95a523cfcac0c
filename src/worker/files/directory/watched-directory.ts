import { type Timer, time } from '../../../shared/seams/time.ts';
import { openExecutionOf } from '../file-names.ts';
import type { Pace } from '../look-schedule.ts';
import type { Sight } from '../results/unusable-result.ts';

/**
 * The content of a directory at one look. `names`: null when there is no such directory. `registered`: false when the
 * registration that its client had is gone.
 */
export type Listing = { kind: 'listing'; names: ReadonlySet<string> | null; registered: boolean };

/** One sighting of an execution's files: an event, which is a hint, its result by its name, or a listing. */
export type Sighting = { kind: 'request-event' | 'result-event' } | { kind: 'result-seen'; sight: Sight } | Listing;
export type Listener = (sighting: Sighting) => void;
/** One execution that waits for its result: who is told, since when, and when its result is next looked for by its name. */
export type Waiting = { tell: Listener; since: number; lookAt: number };

/** A client's directory, and the registration it has as long as it lives; null for one that is only a directory. */
export type Directory = { directory: string; registration: string | null };

export type Watched = Directory &
  Pace & {
    listeners: Map<string, Waiting>;
    /** How long the wait for the last result was that a look found, in ms; null until there is one. */
    lastAnswerMs: number | null;
    idleSince: number;
    missing: boolean;
    /** Executions of other workers, as of the last listing. */
    others: number;
    /** Executions of this worker that ended, and when (`time.monotonic()`): their files may still be there. */
    ended: Map<string, number>;
    armedAt: number;
    listeningSince: number;
    heardAt: number;
    listedAt: number;
    /** The next look; null while none is planned. */
    next: { timer: Timer; dueAt: number } | null;
    looking: boolean;
  };

/** The files of an execution that ended here are gone by then. */
const ENDED_KEPT_MS = 5000;

/** A directory as it is when it begins to be watched. */
export function newlyWatched(watchable: Directory): Watched {
  const now = time.now();
  return {
    ...watchable,
    listeners: new Map(),
    lastAnswerMs: null,
    idleSince: now,
    missing: false,
    others: 0,
    ended: new Map(),
    armedAt: now,
    listeningSince: 0,
    heardAt: 0,
    eventsArrive: false,
    youngestAt: time.monotonic(),
    lookedAt: time.monotonic(),
    lastTookMs: 0,
    listedAt: Number.NEGATIVE_INFINITY,
    next: null,
    looking: false,
  };
}

/** Executions of other workers that a listing shows: their request is still there, or their mark. */
export function countOthers(watched: Watched, names: string[]): number {
  for (const [mockId, at] of watched.ended) {
    if (time.monotonic() - at < ENDED_KEPT_MS) break;
    watched.ended.delete(mockId);
  }
  const open = new Set(names.map(openExecutionOf).filter((mockId) => mockId !== undefined));
  return [...open].filter((mockId) => !isOwn(watched, mockId)).length;
}

export function isOwn(watched: Watched | undefined, mockId: string): boolean {
  return watched !== undefined && (watched.listeners.has(mockId) || watched.ended.has(mockId));
}

/** A directory without listeners is not listed any more. */
export function othersIn(watched: Watched | undefined): number {
  return watched && watched.listeners.size > 0 ? watched.others : 0;
}

/** An execution of this worker ended. */
export function noteEnd({ listeners, ended }: Watched, mockId: string): void {
  listeners.delete(mockId);
  ended.delete(mockId);
  ended.set(mockId, time.monotonic());
}
