import { time } from '../../shared/seams/time.ts';
/** Runs an operation, and tells its result and how long it took, in ms. */
export async function timed<T>(operation: () => Promise<T>): Promise<{ value: T; tookMs: number }> {
  const startedAt = time.monotonic();
  const value = await operation();
  return { value, tookMs: time.monotonic() - startedAt };
}
