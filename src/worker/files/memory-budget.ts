import { time } from '../../shared/ports/time.ts';
import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';

/** Memory that the holder may use until it is released; releasing twice is safe. */
export type Lease = { release(): void };
export type MemoryBudget = ReturnType<typeof createMemoryBudget>;

const nothing: Lease = { release: () => {} };

/**
 * Bounds how many bytes of large results a worker has in memory at once: many that arrive at the same moment are read,
 * judged and put into the store a few at a time, in the order they were noticed. Small ones never wait.
 */
export function createMemoryBudget(maxBytes: number) {
  const waiting: { bytes: number; enter: () => void }[] = [];
  let taken = 0;
  let resting = false;

  /** Lets one in, then pauses as long as its synchronous work took, so that others get their turn. */
  function letIn(): void {
    const next = waiting[0];
    // One that is larger than the whole budget gets all of it.
    if (!next || resting || (taken > 0 && taken + next.bytes > maxBytes)) return;
    waiting.shift();
    taken += next.bytes;
    resting = true;
    const enteredAt = time.monotonic();
    next.enter();
    time.setImmediate(() => time.setTimeout(rested, time.monotonic() - enteredAt));
  }

  function rested(): void {
    resting = false;
    letIn();
  }

  function leaseOf(bytes: number): Lease {
    let held = bytes;
    return {
      release() {
        taken -= held;
        held = 0;
        letIn();
      },
    };
  }

  return {
    /** Resolves to a lease once that many bytes are free. Rejects with the signal's reason when it is aborted before. */
    async acquire(bytes: number, signal?: AbortSignal): Promise<Lease> {
      if (bytes <= INLINE_BYTES) return nothing;
      const { promise, resolve, reject } = Promise.withResolvers<Lease>();
      const entry = { bytes, enter: () => resolve(leaseOf(bytes)) };
      const leave = () => {
        const at = waiting.indexOf(entry);
        if (at >= 0) waiting.splice(at, 1);
        reject(signal?.reason);
      };
      waiting.push(entry);
      signal?.addEventListener('abort', leave, { once: true });
      letIn();
      return promise.finally(() => signal?.removeEventListener('abort', leave));
    },
  };
}
