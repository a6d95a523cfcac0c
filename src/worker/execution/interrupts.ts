import { time } from '../../shared/ports/time.ts';
import type { Cancel } from '../../shared/queue/cancels.ts';

/** The messages that can reach an execution while it waits. `handover`: another worker goes on with it. */
export type Interrupt = 'handover' | Cancel['why'];
type Listener = (interrupt: Interrupt) => void;

/** A cancel can overtake the start of its execution, or come just before another worker takes it over. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** This worker stops: what was only being read is left to another one. */
export class HandedOver extends Error {}

export type Interrupts = ReturnType<typeof createInterrupts>;

/** Carries interrupts to executions of this worker; cancels and the hand-over also to those that begin later. */
export function createInterrupts() {
  const listeners = new Map<string, Listener>();
  const cancels = new Map<string, { why: Cancel['why']; at: number }>();
  const reading = new Set<() => void>();
  let handingOver = false;

  return {
    /** Cancels one execution, now or when it begins to listen. */
    cancel({ mockId, why }: Cancel): void {
      cancels.set(mockId, { why, at: time.now() });
      for (const [oldest, { at }] of cancels) {
        if (cancels.size <= MAX_REMEMBERED && time.now() - at < REMEMBER_MS) break;
        cancels.delete(oldest);
      }
      listeners.get(mockId)?.(why);
    },
    isCancelled: (mockId: string) => cancels.has(mockId),

    /** Another worker may have the execution by now. Not remembered: the lock of the next try is another one. */
    lockLost(mockId: string): void {
      listeners.get(mockId)?.('handover');
    },

    /** Gives every execution that waits here back to the queue; this worker goes on. */
    releaseAll(): void {
      for (const listener of [...listeners.values()]) listener('handover');
    },

    /** Interrupts every execution, also those that have not begun to listen: this worker stops. */
    handOver(): void {
      handingOver = true;
      for (const listener of [...listeners.values()]) listener('handover');
      for (const stop of reading) stop();
    },
    get handingOver() {
      return handingOver;
    },

    /** Runs a task that only reads. Rejects with `HandedOver` once this worker stops, however long the task hangs. */
    async unlessHandedOver<T>(task: () => Promise<T>): Promise<T> {
      if (handingOver) throw new HandedOver();
      const { promise, reject } = Promise.withResolvers<never>();
      const stop = () => reject(new HandedOver());
      reading.add(stop);
      return Promise.race([task(), promise]).finally(() => reading.delete(stop));
    },

    /** Listens until the returned function is called. What came before is delivered at once. */
    listen(mockId: string, listener: Listener): () => void {
      listeners.set(mockId, listener);
      const earlier: Interrupt | undefined = handingOver ? 'handover' : cancels.get(mockId)?.why;
      if (earlier) queueMicrotask(() => listener(earlier));
      return () => {
        if (listeners.get(mockId) === listener) listeners.delete(mockId);
      };
    },
  };
}
