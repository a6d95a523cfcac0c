import { time } from '../ports/time.ts';

/** For what others are about to do, and for a store that is away. */
export const SOON_MS = 50;
const AWAY_MS = 250;

type Retry = {
  /** Asked after each failure. */
  goOn: () => boolean;
  everyMs?: number;
  /** After it the task is repeated; without it, an error ends everything. */
  onError?: (error: unknown) => void;
};

/** Repeats a task until it has something to say, and at least once. Undefined if it never had. */
export async function retry<T>(
  task: () => Promise<T | undefined>,
  { goOn, everyMs = AWAY_MS, onError }: Retry,
): Promise<T | undefined> {
  for (;;) {
    try {
      const done = await task();
      if (done !== undefined) return done;
    } catch (error) {
      if (!onError) throw error;
      onError(error);
    }
    if (!goOn()) return undefined;
    await time.pause(everyMs);
  }
}

/** For `goOn`: until so many ms from now, whatever is done to the clock meanwhile. */
export function within(ms: number): () => boolean {
  const until = time.monotonic() + ms;
  return () => time.monotonic() < until;
}

/**
 * Repeats a write until it works, at most until `deadline` (epoch ms). For writes that must not be lost while the queue store
 * is away.
 */
export async function persist<T>(deadline: number, task: () => Promise<T>): Promise<T | undefined> {
  const goOn = within(deadline - time.now());
  return (await retry(async () => ({ value: await task() }), { goOn, onError: () => {} }))?.value;
}

/** The same, for what cannot be done without: after `deadline` it is tried once more, and that failure is thrown. */
export async function persistOrThrow<T>(deadline: number, task: () => Promise<T>): Promise<T> {
  return (await persist(deadline, task)) ?? task();
}
