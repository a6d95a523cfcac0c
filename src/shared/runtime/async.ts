import { time } from '../ports/time.ts';

// Times that mean the same wherever they are used.

/** Events are hints: what they would tell of is looked at this often anyway. */
export const POLL_MS = 1000;
/** For what others are about to do, and for a store, a worker or a client that is away. */
export const SOON_MS = 50;
export const AWAY_MS = 250;
/** After an unexpected error. A deadline ends what is tried again, not a count. */
export const RETRY_MS = 1000;
/** All processes are back at a queue store that was away within this time. */
export const STORE_BACK_WITHIN_MS = 10_000;
/** What hangs, as closing does while the store is away, does not hold up a stop for longer. */
export const STOP_WITHIN_MS = 3000;

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

/** Resolves once the work has ended, well or badly, but after `timeoutMs` at the latest. The work itself goes on. */
export async function atMost(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  await resultWithin(timeoutMs, {
    of: work.catch(() => {}),
    late: () => {},
  });
}

/** The reply of a queue store. Rejects when none came within `timeoutMs`. */
export function replyWithin<T>(timeoutMs: number, reply: Promise<T>): Promise<Awaited<T>> {
  const late = () => Promise.reject(new Error(`Command timed out after ${timeoutMs} ms`));
  return resultWithin(timeoutMs, { of: reply, late });
}

/**
 * The result of the work, or what `late` says when it takes longer than `timeoutMs`. The work itself goes on. Work that ended, and a reply that
 * arrived, while the event loop stood still count as done.
 */
export function resultWithin<T, L>(
  timeoutMs: number,
  { of: work, late }: { of: Promise<T>; late: () => L },
): Promise<Awaited<T> | Awaited<L>> {
  const timeIsUp = Promise.withResolvers<L>();
  const timer = time.setDeadline(() => timeIsUp.resolve(late()), timeoutMs);
  return Promise.race([work, timeIsUp.promise]).finally(() => time.clearTimeout(timer));
}

/** Does something with each of them, one after the other. A failure with one is reported and does not stop the others. */
export async function tryEach<T>(
  items: Iterable<T>,
  task: (item: T) => Promise<unknown>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const item of items) {
    try {
      await task(item);
    } catch (error) {
      onError(error);
    }
  }
}

const MAX_KEPT = 1000;

type Options = {
  /** Whether those who ask share a failure, too. Otherwise the next one tries again. */
  failures?: boolean;
  now?: () => number;
};

/** Lets all who ask for the same key within `ms` share one task and its result, unless the key was forgotten meanwhile. */
export function cached<T>(
  ms: number,
  run: (key: string) => Promise<T>,
  { failures = false, now = () => time.monotonic() }: Options = {},
) {
  const kept = new Map<string, { at: number; task: Promise<T> }>();

  function share(key: string): Promise<T> {
    const last = kept.get(key);
    if (last && now() - last.at < ms) return last.task;
    if (kept.size >= MAX_KEPT) kept.clear();
    const own = { at: now(), task: run(key) };
    kept.set(key, own);
    if (!failures) own.task.catch(() => kept.get(key) === own && kept.delete(key));
    return own.task;
  }
  return Object.assign(share, { forget: (key: string): void => void kept.delete(key) });
}

/** Tells once of what happens together: `ms` after the first time. */
export function together(ms: number, tell: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    time.setTimeout(() => {
      isDue = false;
      tell();
    }, ms);
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
