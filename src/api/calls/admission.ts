import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { time } from '../../shared/ports/time.ts';
import type { Backlog } from '../../shared/queue/backlog.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import { type QueueHealth, type StoreAway, whyAway } from '../queue-health.ts';
import type { PendingExecutions } from './pending-executions.ts';

/** Of QUEUE_TIMEOUT_MS. The rest is for what the expected wait does not know: other APIs, and workers that become slower. */
const LONGEST_WAIT = 0.6;

type AdmissionDependencies = {
  health: Pick<QueueHealth, 'up' | 'full' | 'waiting' | 'active' | 'workers'>;
  pending: Pick<PendingExecutions, 'waiting'>;
  backlog: Pick<Backlog, 'delayMs'>;
  settings: Pick<Settings, 'MAX_QUEUED' | 'QUEUE_TIMEOUT_MS'>;
};

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Whether a call can be begun now, before anything of it is stored. It bounds the calls that wait on the queue, and how long a new one would
 * wait there. Other limits on calls: the calls of a key (`access/limits.ts`), the bytes of their bodies (below), and in a worker
 * the executions of one client (`placement/client-slots.ts`) and the bytes of large results (`files/results/result-file.ts`).
 */
export function createAdmission({ health, pending, backlog, settings }: AdmissionDependencies) {
  /** Why the queue store takes no calls; undefined when it takes them. */
  const whyStoreIsAway = (): StoreAway | undefined => (health.up ? undefined : whyAway(health.full));

  function storeIsAway(): NoAnswer | undefined {
    const why = whyStoreIsAway();
    return why === undefined ? undefined : noAnswer('not-sent', why);
  }

  function tooManyWait(): NoAnswer | undefined {
    const waiting = Math.max(health.waiting, pending.waiting - health.active);
    return waiting < settings.MAX_QUEUED ? undefined : noAnswer('too-many-wait', { waiting });
  }

  /** More calls come than workers can begin in time. Without workers there is another reason. */
  function waitsTooLong(): NoAnswer | undefined {
    const waitMs = backlog.delayMs();
    if (health.workers === 0 || waitMs <= LONGEST_WAIT * settings.QUEUE_TIMEOUT_MS) return undefined;
    return noAnswer('too-many-calls', { seconds: Math.ceil(waitMs / 1000) });
  }

  return {
    whyStoreIsAway,
    waitsTooLong,
    /** The reason to refuse a call now; undefined if there is none. */
    refusal: (): NoAnswer | undefined => storeIsAway() ?? tooManyWait() ?? waitsTooLong(),
  };
}

// The memory of bodies.

/** A body for which there is no room is not read for so long: meanwhile its caller cannot send the rest of it. */
const ROOM_WITHIN_MS = 5000;
/** Of a body that is not read, a connection holds some 64 KiB. */
const MAX_WAITING = 1000;

/** The memory that one call holds for its body. Each call of `share` needs a `close` of its own; the last one frees it. */
export type BodyLease = {
  /** Waits for room. False when there was none in time: all open bodies together would be larger than they may be. */
  grow(bytes: number): Promise<boolean>;
  share(): void;
  close(): void;
};

export type OpenBodies = ReturnType<typeof createOpenBodies>;

/**
 * A bound for the bodies of all open calls together: those that are being read (`readBody` grows the lease), and those whose calls
 * wait for their ending (`submit-execution.ts` shares it until then). Beyond `MAX_OPEN_BODY_BYTES` (a sixteenth of the memory, 4 to
 * 48 MiB) a call waits for room, and gets 503 `overloaded` when there was none in time.
 */
export function createOpenBodies(maxBytes: number) {
  let open = 0;
  const waiting = new Set<{ bytes: number; end: (hasRoom: boolean) => void }>();

  function take(bytes: number): boolean {
    if (open + bytes > maxBytes) return false;
    open += bytes;
    return true;
  }

  /** A small body may find room before a large one that came first, which does not wait for long. */
  function free(bytes: number): void {
    open -= bytes;
    for (const each of waiting) if (take(each.bytes)) each.end(true);
  }

  function takeInTime(bytes: number): Promise<boolean> {
    if (bytes > maxBytes || waiting.size >= MAX_WAITING) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = time.setTimeout(() => end(false), ROOM_WITHIN_MS);
      const each = { bytes, end };
      waiting.add(each);
      function end(hasRoom: boolean): void {
        time.clearTimeout(timer);
        waiting.delete(each);
        resolve(hasRoom);
      }
    });
  }

  return {
    get bytes() {
      return open;
    },
    lease(): BodyLease {
      let own = 0;
      let holders = 1;
      return {
        async grow(bytes) {
          const hasRoom = take(bytes) || (await takeInTime(bytes));
          if (hasRoom) own += bytes;
          return hasRoom;
        },
        share() {
          holders++;
        },
        close() {
          if (--holders > 0) return;
          free(own);
          own = 0;
        },
      };
    },
  };
}
