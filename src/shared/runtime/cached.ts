import { time } from '../ports/time.ts';

const MAX_KEPT = 1000;

type Options = {
  /** Whether those who ask share a failure, too. Otherwise the next one tries again. */
  failures?: boolean;
  now?: () => number;
};

/** Lets all who ask for the same key within `ms` share one task and its result. */
export function cached<T>(
  ms: number,
  run: (key: string) => Promise<T>,
  { failures = false, now = () => time.monotonic() }: Options = {},
) {
  const kept = new Map<string, { at: number; task: Promise<T> }>();

  return function share(key: string): Promise<T> {
    const last = kept.get(key);
    if (last && now() - last.at < ms) return last.task;
    if (kept.size >= MAX_KEPT) kept.clear();
    const own = { at: now(), task: run(key) };
    kept.set(key, own);
    if (!failures) own.task.catch(() => kept.get(key) === own && kept.delete(key));
    return own.task;
  };
}

/** Lets all who ask while a task runs share it. */
export function whileItRuns<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
}
