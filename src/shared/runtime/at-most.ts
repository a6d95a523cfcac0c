import { time } from '../seams/time.ts';
/** Resolves once the work has ended, well or badly, but after `timeoutMs` at the latest. The work itself goes on. */
export async function atMost(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  await resultWithin(timeoutMs, {
    of: work.catch(() => {}),
    late: () => {},
  });
}

/**
 * The result of the work, or what `late` says when it takes longer than `timeoutMs`. The work itself goes on. Work that ended while the event
 * loop stood still counts as done: timers come first then, so one turn is waited for.
 */
export function resultWithin<T, L>(
  timeoutMs: number,
  { of: work, late }: { of: Promise<T>; late: () => L },
): Promise<T | L> {
  const timeIsUp = Promise.withResolvers<L>();
  const timer = time.setTimeout(() => time.setImmediate(() => timeIsUp.resolve(late())), timeoutMs);
  return Promise.race([work, timeIsUp.promise]).finally(() => time.clearTimeout(timer));
}
