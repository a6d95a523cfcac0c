const SHARED_FOR_MS = 100;
const MAX_KEPT = 1000;

/** Lets all who ask for the same key within `SHARED_FOR_MS` share one task and its result, also when it fails. */
export function createLatelyShared<T>(run: (key: string) => Promise<T>, now: () => number = () => performance.now()) {
  const kept = new Map<string, { at: number; task: Promise<T> }>();

  return function share(key: string): Promise<T> {
    const last = kept.get(key);
    if (last && now() - last.at < SHARED_FOR_MS) return last.task;
    if (kept.size >= MAX_KEPT) kept.clear();
    const task = run(key);
    kept.set(key, { at: now(), task });
    return task;
  };
}
