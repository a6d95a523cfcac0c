import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';

export type Room = ReturnType<typeof createRoom>;

/**
 * Bounds how many bytes of large results a worker has in memory at once: many that arrive at the same moment are read,
 * judged and put into the store a few at a time, in the order they were noticed. Small ones never wait.
 */
export function createRoom(maxBytes: number) {
  const waiting: { bytes: number; enter: () => void }[] = [];
  let taken = 0;
  let resting = false;

  /** One at a time, and then a rest as long as that one took: to judge a large one takes a while, and others want their turn. */
  function letIn(): void {
    const next = waiting[0];
    if (!next || resting || !hasRoomFor(next.bytes)) return;
    waiting.shift();
    taken += next.bytes;
    resting = true;
    const enteredAt = performance.now();
    next.enter();
    setImmediate(() => setTimeout(rested, performance.now() - enteredAt));
  }

  function rested(): void {
    resting = false;
    letIn();
  }

  /** One that is larger than all the room there is gets all of it. */
  function hasRoomFor(bytes: number): boolean {
    return taken === 0 || taken + bytes <= maxBytes;
  }

  return {
    /** Resolves once there is room for so many bytes, to what gives it back. */
    async take(bytes: number): Promise<() => void> {
      if (bytes <= INLINE_BYTES) return () => {};
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ bytes, enter: resolve });
      letIn();
      await promise;
      return () => {
        taken -= bytes;
        bytes = 0;
        letIn();
      };
    },
  };
}
