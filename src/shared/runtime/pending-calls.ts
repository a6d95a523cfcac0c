/** Calls that wait under an id until they are settled. The first ending wins; every wait has a deadline. */
type PendingCalls<T> = {
  /** Waits under `id`. After `timeoutMs` the wait ends with what `onTimeout` comes to. One call at a time waits under an id. */
  enter(id: string, timeoutMs: number, onTimeout: () => T | Promise<T>): Promise<T>;
  /** Ends the wait of `id`; false when no call waits under it (any more). */
  settle(id: string, value: T): boolean;
  has(id: string): boolean;
  ids(): string[];
  readonly size: number;
};

/** No calls at all, to begin with. */
export function createPendingCalls<T>(): PendingCalls<T> {
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
    enter(id, timeoutMs, onTimeout) {
      if (waiting.has(id)) throw new Error(`a call already waits for ${id}`);
      return new Promise((resolve) => {
        waiting.set(id, { resolve, timer: setTimeout(() => settle(id, onTimeout()), timeoutMs) });
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
