import { setTimeout as pause } from 'node:timers/promises';

/** So many reads of one key run at once in one API; the others wait for their turn, which costs nothing. */
const AT_ONCE = 2;
/** A read that takes longer waits for somebody else, such as a worker. It keeps no turn from others. */
const MAX_TURN_MS = 200;
/** A turn is free again after twice the time that it took, up to this much: most of the time belongs to the other keys. */
const MAX_REST_MS = 100;

/** Lets the reads of one key run in turn: many at once would take the loop of this process from the calls of others. */
export function createReadTurns() {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function rest(turn: Promise<unknown>): Promise<void> {
    const startedAt = performance.now();
    await Promise.race([turn, pause(MAX_TURN_MS)]);
    await pause(Math.min(2 * (performance.now() - startedAt), MAX_REST_MS));
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  /** Waits for the turn of a read. To be called back when it is over. */
  return async function begin(): Promise<() => void> {
    if (running < AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    const turn = Promise.withResolvers<void>();
    void rest(turn.promise);
    return turn.resolve;
  };
}
