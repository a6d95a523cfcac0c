import { time } from '../ports/time.ts';

const PERSIST_EVERY_MS = 250;

/**
 * Repeats a write until it works, at most until `deadline` (epoch ms). For writes that must not be lost while the queue store
 * is away.
 */
export async function persist<T>(deadline: number, task: () => Promise<T>): Promise<T | undefined> {
  // A clock that is set back meanwhile does not make it longer.
  const until = time.monotonic() + deadline - time.now();
  for (;;) {
    try {
      return await task();
    } catch {
      if (time.monotonic() >= until) return undefined;
      await time.pause(PERSIST_EVERY_MS);
    }
  }
}

/** The same, for what cannot be done without: after `deadline` it is tried once more, and that failure is thrown. */
export async function persistOrThrow<T>(deadline: number, task: () => Promise<T>): Promise<T> {
  return (await persist(deadline, task)) ?? task();
}
