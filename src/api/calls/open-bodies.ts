import { time } from '../../shared/ports/time.ts';

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
