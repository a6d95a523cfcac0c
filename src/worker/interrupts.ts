/** What can reach an execution from outside while it waits. */
export type Interrupt = 'handover' | 'lock-lost' | 'caller-left' | 'asked';
type Listener = (interrupt: Interrupt) => void;

/** A cancel can overtake the start of its execution: it is remembered this long. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export type Interrupts = ReturnType<typeof createInterrupts>;

/** Carries interrupts to executions of this worker, also to those that are about to begin. */
export function createInterrupts() {
  const listeners = new Map<string, Listener>();
  const early = new Map<string, { interrupt: Interrupt; at: number }>();

  return {
    /** Interrupts one execution, now or when it begins to listen. */
    send(mockId: string, interrupt: Interrupt): void {
      const listener = listeners.get(mockId);
      if (listener) {
        listener(interrupt);
        return;
      }
      early.set(mockId, { interrupt, at: Date.now() });
      for (const [oldest, { at }] of early) {
        if (early.size <= MAX_REMEMBERED && Date.now() - at < REMEMBER_MS) break;
        early.delete(oldest);
      }
    },
    sendAll(interrupt: Interrupt): void {
      for (const listener of [...listeners.values()]) listener(interrupt);
    },
    /** Whether a cancel came before the execution began. */
    isCancelled(mockId: string): boolean {
      const entry = early.get(mockId);
      return entry !== undefined && (entry.interrupt === 'asked' || entry.interrupt === 'caller-left');
    },
    /** Listens until the returned function is called. An interrupt that came early is delivered at once. */
    listen(mockId: string, listener: Listener): () => void {
      listeners.set(mockId, listener);
      const waiting = early.get(mockId);
      if (waiting) {
        early.delete(mockId);
        queueMicrotask(() => listener(waiting.interrupt));
      }
      return () => {
        if (listeners.get(mockId) === listener) listeners.delete(mockId);
      };
    },
  };
}
