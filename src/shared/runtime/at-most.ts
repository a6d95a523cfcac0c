import { time } from '../ports/time.ts';
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
