import { time } from '../../shared/seams/time.ts';
import { isStoreUnavailable } from '../../shared/store/store-error.ts';

const AGAIN_MS = 250;

/** Asks the queue store again while it is away. Null when `signal` aborted before it was back. */
export async function onceThere<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      if (signal.aborted) return null;
      await time.pause(AGAIN_MS);
    }
  }
}
