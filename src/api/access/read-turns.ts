import { setTimeout as pause } from 'node:timers/promises';

const AT_ONCE = 2;
/** A read that takes longer waits for a worker or the store, not for this process, and gives its slot back. */
const MAX_TURN_MS = 200;
/** A slot rests for twice the time that its read took, up to this much, so that other keys get most of the time. */
const MAX_REST_MS = 100;

/** Limits concurrent reads per key, because many at once would block the event loop for the calls of others. */
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

  /** Acquires a slot; resolves to its release function. */
  return async function begin(): Promise<() => void> {
    if (running < AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    const turn = Promise.withResolvers<void>();
    void rest(turn.promise);
    return turn.resolve;
  };
}
