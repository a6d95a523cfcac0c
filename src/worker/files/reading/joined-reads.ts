/**
 * Lets callers who want the same thing at the same time share one read. A read that has already begun is never shared: it
 * may have looked at a file before the edit that the new caller just made. So at most one runs and one waits per key.
 */
export function createJoinedReads<T>() {
  const slots = new Map<string, { running: Promise<T>; next: Promise<T> | null }>();

  function begin(key: string, read: () => Promise<T>): Promise<T> {
    const slot: { running: Promise<T>; next: Promise<T> | null } = { running: read(), next: null };
    slots.set(key, slot);
    const done = () => {
      if (slot.next === null) slots.delete(key);
    };
    slot.running.then(done, done);
    return slot.running;
  }

  return function join(key: string, read: () => Promise<T>): Promise<T> {
    const slot = slots.get(key);
    if (!slot) return begin(key, read);
    const again = () => begin(key, read);
    slot.next ??= slot.running.then(again, again);
    return slot.next;
  };
}
