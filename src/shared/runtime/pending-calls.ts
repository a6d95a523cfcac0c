/** Promises parked under an id until somebody settles them. The first ending wins; every wait has a deadline. */
export type WaitingRoom<T> = {
  /** Parks under `id`. After `timeoutMs` the wait ends with what `late` comes to. An id can be parked once at a time. */
  enter(id: string, timeoutMs: number, late: () => T | Promise<T>): Promise<T>;
  /** Ends the wait of `id`; false when nobody waits under it (any more). */
  settle(id: string, value: T): boolean;
  has(id: string): boolean;
  ids(): string[];
  readonly size: number;
};

/** A waiting room with nobody in it. */
export function createWaitingRoom<T>(): WaitingRoom<T> {
  const waiting = new Map<string, { resolve: (value: T | Promise<T>) => void; timer: NodeJS.Timeout }>();

  const settle = (id: string, value: T | Promise<T>) => {
    const wait = waiting.get(id);
    if (!wait) return false;
    waiting.delete(id);
    clearTimeout(wait.timer);
    wait.resolve(value);
    return true;
  };

  return {
    enter(id, timeoutMs, late) {
      if (waiting.has(id)) throw new Error(`somebody already waits for ${id}`);
      return new Promise((resolve) => {
        waiting.set(id, { resolve, timer: setTimeout(() => settle(id, late()), timeoutMs) });
      });
    },
    settle,
    has: (id) => waiting.has(id),
    ids: () => [...waiting.keys()],
    get size() {
      return waiting.size;
    },
  };
}
