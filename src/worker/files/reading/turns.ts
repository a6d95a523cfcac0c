import { time } from '../../../shared/seams/time.ts';

/** A call waits for some twenty turns. */
const AT_MOST_MS = 1;

/** For a long row of operations that are done at once: each waits for a turn of the event loop when those before it have held it up for a ms. */
export function createTurns() {
  let since = time.monotonic();
  let turning: Promise<void> | undefined;

  return function turn(): Promise<void> | undefined {
    if (time.monotonic() - since >= AT_MOST_MS)
      turning ??= new Promise<void>((resolve) => time.setImmediate(resolve)).then(turned);
    return turning;
  };

  function turned(): void {
    since = time.monotonic();
    turning = undefined;
  }
}
