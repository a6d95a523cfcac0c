import { perProcess } from './process.ts';

export type Timer = object;

/** The clocks and timers of a process. */
export type Time = {
  /** Epoch ms by this process's clock, which may be wrong and may jump. */
  now(): number;
  /** Ms on a monotonic clock. */
  monotonic(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setImmediate(run: () => void): void;
};

const realTime: Time = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  setImmediate: (run) => void setImmediate(run),
};

export const timeOf = perProcess(() => realTime);

export const time = {
  now: () => timeOf().now(),
  monotonic: () => timeOf().monotonic(),
  /** Whether a time in epoch ms is over by the clock of this process. */
  isPast: (epochMs: number) => timeOf().now() >= epochMs,
  setTimeout: (run: () => void, ms: number) => timeOf().setTimeout(run, ms),
  /**
   * Calls `run` after `ms`, and after input that arrived while the event loop was blocked: timers run first then, and would treat as late
   * what has already arrived. The next turn accepts a connection, the one after reads from it.
   */
  setDeadline: (run: () => void, ms: number) =>
    timeOf().setTimeout(() => time.setImmediate(() => time.setImmediate(run)), ms),
  clearTimeout: (timer: Timer | undefined) => timeOf().clearTimeout(timer),
  setImmediate: (run: () => void) => timeOf().setImmediate(run),
  /** Resolves after so many ms, or when the signal is aborted. */
  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const over = () => {
        timeOf().clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = timeOf().setTimeout(over, ms);
      signal?.addEventListener('abort', over);
    });
  },
  /** A signal that is aborted after so many ms. */
  abortAfter(ms: number): AbortSignal {
    const controller = new AbortController();
    timeOf().setTimeout(() => controller.abort(new DOMException('It took too long', 'TimeoutError')), ms);
    return controller.signal;
  },
};
