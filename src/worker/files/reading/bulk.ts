import { perProcess } from '../../../shared/ports/process.ts';
import { time } from '../../../shared/ports/time.ts';

/** Reads of many files go so many at a time, so that those of a call find a thread and a file descriptor in between. */
const AT_ONCE = 16;

type Limit = { running: number; waiting: (() => void)[] };
const limit = perProcess((): Limit => ({ running: 0, waiting: [] }));

/** Runs one of many reads, in the order they come. It must not wait for another one. */
export async function inBulk<T>(task: () => Promise<T>): Promise<T> {
  const own = limit();
  // A task that ends gives its place to the next one, so `running` only grows for tasks that did not wait.
  if (own.running >= AT_ONCE) await new Promise<void>((resolve) => own.waiting.push(resolve));
  else own.running++;
  try {
    return await task();
  } finally {
    const next = own.waiting.shift();
    if (next) next();
    else own.running--;
  }
}

/** The same for each item of a list, which holds up no other one. */
export async function mapInBulk<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const left = items.entries();
  const goOn = async () => {
    for (const [at, item] of left) {
      await turn();
      results[at] = await task(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, goOn));
  return results;
}

/** A call waits for some twenty turns of the event loop. */
const TURN_MS = 1;
type Turn = { since: number; over: Promise<void> };
const turns = perProcess((): { now: Turn | undefined } => ({ now: undefined }));

/** For many operations in the main thread: waits for the next turn of the event loop when those of this one have taken a ms. */
export async function turn(): Promise<void> {
  const own = turns();
  own.now ??= { since: time.monotonic(), over: new Promise<void>((resolve) => time.setImmediate(resolve)).then(ended) };
  if (time.monotonic() - own.now.since >= TURN_MS) await own.now.over;

  function ended(): void {
    own.now = undefined;
  }
}
