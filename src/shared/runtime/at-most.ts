/** Resolves once the work has ended, well or badly, but after `timeoutMs` at the latest. The work itself goes on. */
export async function atMost(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
